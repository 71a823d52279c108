"""Problems about amounts: sharing, packing, comparing, stock, fractions, shares in percent, ages, seats, averages."""

from __future__ import annotations

from prefixcache.content.synthetic import modifiers, names, nouns
from prefixcache.content.synthetic.english import a
from prefixcache.content.synthetic.problem import (
    CONTAINERS,
    FOODS,
    HOUSEHOLD,
    JOBS,
    PLANTS,
    SMALL_THINGS,
    Problem,
    Template,
    add,
    div,
    mul,
    percent,
    sub,
)
from prefixcache.content.synthetic.scene import Scene, site


def sharing(s: Scene) -> Problem:
    draw, who = s.draw, s.who
    food = draw.pick(FOODS)
    people, each, kept = draw.between(3, 12), draw.between(2, 15), draw.between(2, 12)
    total = people * each + kept
    story = (
        f"{who.name} has {total} {food.many}. {who.they.capitalize()} keeps {kept} of them and "
        f"{draw.pick(modifiers.MANNER)} shares the rest equally among {people} {draw.pick(JOBS).many}. "
        + draw.pick((f"How many {food.many} does each of them get?", "How many does every one of them receive?"))
    )
    steps = (
        f"{who.name} shares {sub(total, kept)} {food.many}.",
        f"Each person gets {div(total - kept, people)} {food.many}.",
    )
    return Problem(story, steps, each)


def packing(s: Scene) -> Problem:
    draw, who = s.draw, s.who
    thing, box = draw.pick(SMALL_THINGS), draw.pick(CONTAINERS)
    size, full, left = draw.between(4, 24), draw.between(3, 30), draw.between(1, 3)
    total = size * full + left
    story = (
        f"{who.name} {draw.pick(modifiers.MANNER)} packs {total} {thing.many} for {s.other.name}. Each {box.one} holds "
        f"{size} {thing.many}, and the last {thing.counted(left)} {'is' if left == 1 else 'are'} kept aside. "
        f"How many full {box.many} are there?"
    )
    steps = (
        f"Without those kept aside there are {sub(total, left)} {thing.many}.",
        f"They fill {div(total - left, size)} {box.many}.",
    )
    return Problem(story, steps, full)


def comparison(s: Scene) -> Problem:
    draw, who, other = s.draw, s.who, s.other
    thing = draw.pick(HOUSEHOLD)
    base, times, more = draw.between(4, 40), draw.between(2, 6), draw.between(2, 30)
    third = draw.pick([name for name in names.NAMES[draw.below(9) :: 9] if name not in (who.name, other.name)])
    many = base * times
    story = (
        f"{other.name} owns {base} {draw.pick(modifiers.COLORS)} {thing.many}. {who.name} owns {times} times as many "
        f"as {other.name}, and {third} owns {more} more than {who.name}. "
        f"How many {thing.many} do the three of them own together?"
    )
    steps = (
        f"{who.name} owns {mul(times, base)} {thing.many}.",
        f"{third} owns {add(many, more)} {thing.many}.",
        f"Together they own {add(base, many, many + more)} {thing.many}.",
    )
    return Problem(story, steps, base + many + many + more)


def stock(s: Scene) -> Problem:
    draw = s.draw
    thing = draw.pick(HOUSEHOLD)
    morning, afternoon, rest = draw.between(5, 60), draw.between(5, 60), draw.between(5, 90)
    start, delivery = morning + afternoon + rest, draw.between(10, 120)
    shop = f"{draw.pick(modifiers.OF_BUILDINGS)} shop near the {draw.pick(nouns.BUILDINGS)}"
    story = (
        f"{s.who.name} runs {a(shop)}. On {draw.pick(names.WEEKDAYS)} it opens with {start} {thing.many} "
        f"and sells {morning} of them in the morning and {afternoon} in the afternoon. In the evening "
        f"{a(draw.pick(nouns.JOBS))} delivers {delivery} more. How many {thing.many} does the shop have now?"
    )
    steps = (
        f"During the day the shop sells {add(morning, afternoon)} {thing.many}.",
        f"That leaves {sub(start, morning + afternoon)} {thing.many}.",
        f"After the delivery there are {add(rest, delivery)} {thing.many}.",
    )
    return Problem(story, steps, rest + delivery)


def fractions(s: Scene) -> Problem:
    draw, who = s.draw, s.who
    thing = draw.pick(SMALL_THINGS)
    part, word = draw.pick(((2, "half"), (3, "a third"), (4, "a quarter"), (5, "a fifth")))
    total = part * draw.between(4, 40)
    given = total // part
    lost = draw.between(1, total - given - 2)
    story = (
        f"{who.name} collected {total} {thing.many} in {s.place}. {who.they.capitalize()} gave {word} of them to "
        f"{s.other.name} and {lost} to {a(draw.pick(nouns.JOBS))}. How many {thing.many} does {who.name} still have?"
    )
    steps = (
        f"{s.other.name} got {div(total, part)} {thing.many}.",
        f"{who.name} still has {sub(total, given, lost)} {thing.many}.",
    )
    return Problem(story, steps, total - given - lost)


def percentages(s: Scene) -> Problem:
    draw = s.draw
    share, people = 5 * draw.between(2, 18), 20 * draw.between(2, 25)
    chosen = share * people // 100
    first, second = draw.two(nouns.TOPICS)
    group = draw.pick(JOBS).many
    story = (
        f"{s.who.name} leads a club of {people} {group} in {s.place}. Of these, {share} percent signed up "
        f"for {first}, and all others chose {second}. How many {group} chose {second}?"
    )
    steps = (
        f"The number of {group} who signed up for {first} is {percent(share, people)}.",
        f"The others are {sub(people, chosen)} {group}.",
    )
    return Problem(story, steps, people - chosen)


def ages(s: Scene) -> Problem:
    draw, who, other = s.draw, s.who, s.other
    child, times, years = draw.between(8, 12), draw.between(3, 6), draw.between(3, 20)
    adult = child * times
    relation = draw.pick(nouns.JOBS)
    story = (
        f"{other.name} is {child} years old. {who.name}, {a(relation)} in {s.place}, is {times} times as old. "
        + draw.pick(
            (
                f"How old will {who.name} be in {years} years?",
                f"What will be the age of {who.name} after {years} more years?",
            )
        )
    )
    steps = (
        f"{who.name} is now {mul(times, child)} years old.",
        f"In {years} years {who.they} will be {add(adult, years)} years old.",
    )
    return Problem(story, steps, adult + years)


def seats(s: Scene) -> Problem:
    draw, who = s.draw, s.who
    rows, each = draw.between(6, 30), draw.between(8, 30)
    taken = draw.between(10, rows * each - 5)
    story = (
        f"{who.name} prepares a hall near the {site(draw)} for a talk about {draw.pick(nouns.TOPICS)}. "
        f"There are {rows} rows with {each} chairs each, and {taken} chairs are reserved for "
        f"{draw.pick(JOBS).many}. How many chairs are free?"
    )
    steps = (f"The hall has {mul(rows, each)} chairs.", f"Of these {sub(rows * each, taken)} chairs are free.")
    return Problem(story, steps, rows * each - taken)


def average(s: Scene) -> Problem:
    draw, who = s.draw, s.who
    mean = draw.between(20, 80)
    up, down = draw.between(1, 15), draw.between(1, 15)
    counts = (mean + up, mean - down, mean - up + down)
    total = sum(counts)
    thing = draw.pick(PLANTS + FOODS)
    day = draw.between(0, 4)
    first, second, third = names.WEEKDAYS[day : day + 3]
    story = (
        f"On {first} {who.name} counted {counts[0]} {thing.many}, on {second} {who.they} counted {counts[1]}, and on "
        f"{third} {who.they} counted {counts[2]}. What is the average number of {thing.many} a day?"
    )
    steps = (
        f"Over the three days {who.they} counted {add(*counts)} {thing.many}.",
        f"The average is {div(total, 3)} {thing.many} a day.",
    )
    return Problem(story, steps, mean)


TEMPLATES: tuple[Template, ...] = (
    sharing,
    packing,
    comparison,
    stock,
    fractions,
    percentages,
    ages,
    seats,
    average,
)
