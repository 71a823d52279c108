"""Problems about time, distance, area and rates: travel, schedules, growth, recipes, reading, fences, tanks."""

from __future__ import annotations

from prefixcache.content.synthetic import modifiers, names, nouns
from prefixcache.content.synthetic.english import a
from prefixcache.content.synthetic.problem import (
    FARM_ANIMALS,
    FOODS,
    GOODS,
    PLANTS,
    Problem,
    Template,
    add,
    div,
    mul,
    sub,
)
from prefixcache.content.synthetic.scene import Scene, site

_ROAD_VEHICLES = ("car", "bus", "truck", "van", "taxi", "train", "motorcycle", "minibus", "caravan", "tractor")
_TILED = ("school", "hotel", "museum", "cottage", "mansion", "library", "castle", "cafe", "inn", "villa")
_INGREDIENTS = ("flour", "sugar", "rice", "milk", "honey", "butter", "oatmeal", "cream", "yogurt", "oil")
_ACTIVITIES = ("lesson", "lecture", "meeting", "rehearsal", "workshop", "seminar", "training", "tour", "class")


def travel(s: Scene) -> Problem:
    draw, who = s.draw, s.who
    fast, slow = draw.between(50, 110), draw.between(20, 49)
    long, short = draw.between(2, 6), draw.between(1, 4)
    vehicle = f"{draw.pick(modifiers.COLORS)} {draw.pick(_ROAD_VEHICLES)}"
    story = (
        f"{who.name} leaves {s.place} in {a(vehicle)}. For {long} hours {who.they} moves at {fast} "
        f"kilometers an hour, and then for {short} {'hour' if short == 1 else 'hours'} at {slow} kilometers an hour. "
        f"How many kilometers does {who.they} travel in all?"
    )
    steps = (
        f"The first part is {mul(long, fast)} kilometers.",
        f"The second part is {mul(short, slow)} kilometers.",
        f"In all that is {add(long * fast, short * slow)} kilometers.",
    )
    return Problem(story, steps, long * fast + short * slow)


def arrival(s: Scene) -> Problem:
    draw, who = s.draw, s.who
    speed, hours, rest = draw.between(4, 25), draw.between(2, 9), draw.between(1, 4)
    story = (
        f"The {site(draw)} is {speed * hours} kilometers from {s.place}. {who.name} {draw.pick(modifiers.MANNER)} "
        f"rides a {draw.pick(('bicycle', 'scooter', 'tandem'))} there at {speed} kilometers an hour and "
        f"rests for {rest} {'hour' if rest == 1 else 'hours'} on the way. How many hours does the trip take?"
    )
    steps = (
        f"The riding takes {div(speed * hours, speed)} hours.",
        f"With the rest the trip takes {add(hours, rest)} hours.",
    )
    return Problem(story, steps, hours + rest)


def schedule(s: Scene) -> Problem:
    draw, who = s.draw, s.who
    count, length, pause = draw.between(3, 7), 5 * draw.between(4, 12), 5 * draw.between(1, 4)
    event = draw.pick(_ACTIVITIES)
    plural = event + ("es" if event == "class" else "s")
    story = (
        f"On {draw.pick(names.WEEKDAYS)} {who.name} attends {count} {plural} about {draw.pick(nouns.TOPICS)}. "
        f"Each one lasts {length} minutes, and between two of them there is a break of {pause} minutes. "
        f"How many minutes pass from the start of the first to the end of the last?"
    )
    breaks = count - 1
    total = count * length + breaks * pause
    steps = (
        f"The {plural} take {mul(count, length)} minutes.",
        f"There are {sub(count, 1)} breaks.",
        f"The breaks take {mul(breaks, pause)} minutes.",
        f"Altogether {add(count * length, breaks * pause)} minutes pass.",
    )
    return Problem(story, steps, total)


def growth(s: Scene) -> Problem:
    draw, who = s.draw, s.who
    plant = draw.pick(PLANTS)
    start, weekly, weeks = draw.between(3, 40), draw.between(2, 9), draw.between(3, 14)
    story = (
        f"In {draw.pick(names.MONTHS)} {who.name} plants {a(draw.pick(('young', 'small', 'healthy', 'tiny')))} "
        f"{plant.one} that is {start} centimeters tall. It grows {weekly} centimeters every week. "
        f"How tall is the {plant.one} after {weeks} weeks?"
    )
    steps = (
        f"In {weeks} weeks it grows {mul(weeks, weekly)} centimeters.",
        f"Then it is {add(start, weeks * weekly)} centimeters tall.",
    )
    return Problem(story, steps, start + weeks * weekly)


def recipe(s: Scene) -> Problem:
    draw, who = s.draw, s.who
    food = draw.pick(FOODS)
    people, times, spoons = draw.between(2, 8), draw.between(2, 7), draw.between(2, 4)
    cups = spoons + draw.between(1, 4)
    first, second = draw.two(_INGREDIENTS)
    story = (
        f"A recipe with {food.many} for {people} people needs {cups} cups of {first} and {spoons} spoons of {second}. "
        f"{who.name} {draw.pick(modifiers.MANNER)} cooks it for {people * times} guests. "
        f"How many more cups of {first} than spoons of {second} does {who.they} need?"
    )
    steps = (
        f"The recipe must be made {div(people * times, people)} times.",
        f"This takes {mul(times, cups)} cups of {first}.",
        f"It takes {mul(times, spoons)} spoons of {second}.",
        f"The difference is {sub(times * cups, times * spoons)}.",
    )
    return Problem(story, steps, times * (cups - spoons))


def baking(s: Scene) -> Problem:
    draw, who = s.draw, s.who
    food, stuff = draw.pick(FOODS), draw.pick(_INGREDIENTS)
    people, times, cups, extra = draw.between(2, 8), draw.between(2, 7), draw.between(2, 6), draw.between(2, 9)
    story = (
        f"A dish with {food.many} for {people} people needs {cups} cups of {stuff}. {who.name} "
        f"{draw.pick(modifiers.MANNER)} prepares it for {people * times} people and then pours another {extra} cups of "
        f"{stuff} into {a(draw.pick(('jar', 'bowl', 'jug', 'pot', 'old tin')))}. How many cups of {stuff} does "
        f"{who.they} use?"
    )
    steps = (
        f"The dish must be made {div(people * times, people)} times.",
        f"The dish takes {mul(times, cups)} cups of {stuff}.",
        f"Together it is {add(times * cups, extra)} cups.",
    )
    return Problem(story, steps, times * cups + extra)


def reading(s: Scene) -> Problem:
    draw, who = s.draw, s.who
    work = f"{draw.pick(modifiers.OF_WORKS)} {draw.pick(nouns.PAPERS)}"
    daily, days = draw.between(8, 45), draw.between(3, 12)
    pages = daily * days + draw.between(10, 200)
    story = (
        f"{who.name} borrows {a(work)} about {draw.pick(nouns.TOPICS)} from the library. It has {pages} pages, and "
        f"{who.they} reads {daily} pages a day. How many pages are left after {days} days?"
    )
    steps = (
        f"In {days} days {who.they} reads {mul(days, daily)} pages.",
        f"So {sub(pages, days * daily)} pages are left.",
    )
    return Problem(story, steps, pages - days * daily)


def tiling(s: Scene) -> Problem:
    draw, who = s.draw, s.who
    long, wide, price = draw.between(6, 24), draw.between(2, 12), draw.between(3, 20)
    place = draw.pick(("terrace", "kitchen", "hallway", "patio", "balcony", "courtyard", "bathroom", "classroom"))
    story = (
        f"The {place} of the {draw.pick(modifiers.OF_BUILDINGS)} {draw.pick(_TILED)} is {long} meters long "
        f"and {wide} meters wide. {who.name} covers its floor with {draw.pick(modifiers.COLORS)} tiles "
        f"that cost ${price} for a square meter. How much do the tiles cost?"
    )
    steps = (
        f"The floor has an area of {mul(long, wide)} square meters.",
        f"The tiles cost {mul(long * wide, price)} dollars.",
    )
    return Problem(story, steps, long * wide * price)


def fence(s: Scene) -> Problem:
    draw, who = s.draw, s.who
    gap = draw.between(2, 5)
    long, wide = gap * draw.between(5, 16), gap * draw.between(2, 9)
    story = (
        f"{who.name} puts a fence around a garden of {draw.pick(PLANTS).many} that is {long} meters long and {wide} "
        f"meters wide. There is a post every {gap} meters, also at the corners. How many posts does {who.they} need?"
    )
    steps = (
        f"Half of the way around is {add(long, wide)} meters.",
        f"The whole way around is {mul(2, long + wide)} meters.",
        f"That needs {div(2 * (long + wide), gap)} posts.",
    )
    return Problem(story, steps, 2 * (long + wide) // gap)


def machines(s: Scene) -> Problem:
    draw, who = s.draw, s.who
    thing = draw.pick(GOODS)
    old, new, hours = draw.between(10, 60), draw.between(61, 140), draw.between(3, 12)
    story = (
        f"In a factory near {s.place}, an old machine makes {old} {thing.many} an hour and a new one makes {new}. "
        f"{who.name} runs both for {hours} hours. How many {thing.many} do they make together?"
    )
    steps = (
        f"In one hour both machines make {add(old, new)} {thing.many}.",
        f"In {hours} hours they make {mul(old + new, hours)} {thing.many}.",
    )
    return Problem(story, steps, (old + new) * hours)


def tank(s: Scene) -> Problem:
    draw, who = s.draw, s.who
    flow, minutes = draw.between(4, 30), draw.between(5, 40)
    start = draw.between(10, 200)
    full = start + flow * minutes
    quality = draw.pick(modifiers.OF_PEOPLE)
    story = (
        f"A water tank for the {draw.pick(FARM_ANIMALS).many} holds {full} liters and already contains {start} liters. "
        f"{who.name}, who is {quality}, fills it with a hose that brings {flow} liters a minute. "
        f"After how many minutes is the tank full?"
    )
    steps = (
        f"The tank can still take {sub(full, start)} liters.",
        f"The hose needs {div(full - start, flow)} minutes.",
    )
    return Problem(story, steps, minutes)


def feed(s: Scene) -> Problem:
    draw, who = s.draw, s.who
    animal = draw.pick(FARM_ANIMALS)
    count, daily, days = draw.between(3, 20), draw.between(2, 9), draw.between(4, 30)
    story = (
        f"At the farm of {who.name} there are {count} {draw.pick(modifiers.OF_ANIMALS)} {animal.many}. Each of them "
        f"eats {daily} kilograms of feed a day. How many kilograms of feed do they eat in {days} days?"
    )
    steps = (
        f"In one day they eat {mul(count, daily)} kilograms.",
        f"In {days} days they eat {mul(count * daily, days)} kilograms.",
    )
    return Problem(story, steps, count * daily * days)


TEMPLATES: tuple[Template, ...] = (
    travel,
    arrival,
    schedule,
    growth,
    recipe,
    baking,
    reading,
    tiling,
    fence,
    machines,
    tank,
    feed,
)
