"""Problems about money: buying, change, saving, discounts, wages, profit, fundraising, tickets."""

from __future__ import annotations

from prefixcache.content.synthetic import modifiers, names, nouns
from prefixcache.content.synthetic.english import a
from prefixcache.content.synthetic.problem import (
    CLOTHES,
    FOODS,
    GOODS,
    HOUSEHOLD,
    PLANTS,
    Problem,
    Template,
    add,
    div,
    mul,
    percent,
    sub,
)
from prefixcache.content.synthetic.scene import Scene, site


def shopping(s: Scene) -> Problem:
    draw, who = s.draw, s.who
    first, second = draw.two(HOUSEHOLD)
    m, n = draw.between(2, 12), draw.between(2, 12)
    p, q = draw.between(2, 25), draw.between(2, 25)
    shop = draw.pick(("market", "shop", "store", "fair", "bazaar", "mall"))
    ending = draw.pick(
        (
            f"How many dollars does {who.name} spend in total?",
            f"How much does {who.they} pay for everything?",
            f"What is the total cost of what {who.they} buys?",
        )
    )
    story = (
        f"At the {draw.pick(modifiers.OF_BUILDINGS)} {shop}, {who.they} buys {m} {first.many} for ${p} each "
        f"and {n} {draw.pick(modifiers.COLORS)} {second.many} for ${q} each. {ending}"
    )
    steps = (
        f"The {first.many} cost {mul(m, p)} dollars.",
        f"The {second.many} cost {mul(n, q)} dollars.",
        f"Together that makes {add(m * p, n * q)} dollars.",
    )
    return Problem(story, steps, m * p + n * q)


def change(s: Scene) -> Problem:
    draw, who = s.draw, s.who
    food = draw.pick(FOODS)
    n, p = draw.between(3, 15), draw.between(1, 6)
    spent = n * p
    paid = next(bill for bill in (5, 10, 20, 50, 100) if bill > spent)
    seller = f"{draw.pick(modifiers.OF_PEOPLE)} {draw.pick(nouns.JOBS)}"
    story = f"{who.name} buys {n} {food.many} at ${p} each from {a(seller)} and pays with a ${paid} bill. " + draw.pick(
        (f"How much change does {who.they} get?", f"How many dollars come back to {who.them}?")
    )
    steps = (f"The {food.many} cost {mul(n, p)} dollars.", f"The change in dollars is {sub(paid, spent)}.")
    return Problem(story, steps, paid - spent)


def savings(s: Scene) -> Problem:
    draw, who = s.draw, s.who
    thing = f"{draw.pick(modifiers.OF_THINGS)} {draw.pick(GOODS).one}"
    start, weekly, weeks = draw.between(5, 60), draw.between(4, 25), draw.between(3, 20)
    price = start + weekly * weeks
    story = (
        f"{who.name} wants to buy {a(thing)} that costs ${price}. {who.they.capitalize()} already has ${start} and "
        f"{draw.pick(modifiers.MANNER)} saves ${weekly} every week. In how many weeks can {who.they} buy it?"
    )
    steps = (
        f"{who.name} still needs {sub(price, start)} dollars.",
        f"At {weekly} dollars a week this takes {div(price - start, weekly)} weeks.",
    )
    return Problem(story, steps, weeks)


def discount(s: Scene) -> Problem:
    draw, who = s.draw, s.who
    item = draw.pick(CLOTHES)
    price, share = 20 * draw.between(1, 15), 5 * draw.between(2, 10)
    cut = price * share // 100
    quality = f"{draw.pick(modifiers.COLORS)} {item.one}"
    count = draw.between(2, 6)
    story = (
        f"{a(quality).capitalize()} normally costs ${price}, but in {draw.pick(names.MONTHS)} the shop takes "
        f"{share} percent off. {who.name} buys {count} of these {item.many} for {who.their} "
        f"{draw.pick(nouns.PEOPLE)}. How much does {who.they} pay?"
    )
    steps = (
        f"The discount on one {item.one} is {percent(share, price)} dollars.",
        f"One {item.one} then costs {sub(price, cut)} dollars.",
        f"So {who.name} pays {mul(count, price - cut)} dollars.",
    )
    return Problem(story, steps, count * (price - cut))


def wages(s: Scene) -> Problem:
    draw, who = s.draw, s.who
    job = draw.pick(nouns.JOBS)
    rate, hours, days = draw.between(9, 30), draw.between(3, 8), draw.between(2, 6)
    earned = rate * hours * days
    spent = draw.between(5, earned // 2)
    story = (
        f"{who.name} works as {a(job)} for ${rate} an hour. This week {who.they} worked {hours} hours a day for "
        f"{days} days and spent ${spent} on {draw.pick(HOUSEHOLD).many}. "
        + draw.pick((f"How much of the pay does {who.they} have left?", "How many dollars of the pay remain?"))
    )
    steps = (
        f"In the week {who.they} worked {mul(hours, days)} hours.",
        f"The pay for that is {mul(hours * days, rate)} dollars.",
        f"After the shopping {sub(earned, spent)} dollars remain.",
    )
    return Problem(story, steps, earned - spent)


def profit(s: Scene) -> Problem:
    draw, who = s.draw, s.who
    goods = draw.pick(PLANTS if draw.below(2) else FOODS)
    made, price = draw.between(10, 60), draw.between(3, 14)
    cost = draw.between(5, made * price // 2)
    story = (
        f"To earn some money, {who.name} and {s.other.name} {draw.pick(modifiers.MANNER)} bring {made} {goods.many} "
        f"to the {site(draw)} and sell all of them for ${price} each. The preparation costs ${cost}. "
        f"What is their profit in dollars?"
    )
    steps = (
        f"They take in {mul(made, price)} dollars.",
        f"Without the preparation the profit is {sub(made * price, cost)} dollars.",
    )
    return Problem(story, steps, made * price - cost)


def fundraising(s: Scene) -> Problem:
    draw, who = s.draw, s.who
    first, second, third = draw.between(15, 90), draw.between(15, 90), draw.between(15, 90)
    total = first + second + third
    goal = total + draw.between(10, 120)
    helper = f"{a(draw.pick(nouns.JOBS))} named {draw.pick(names.NAMES)}"
    story = (
        f"A group collects money for the {site(draw)}. {who.name} gives ${first}, {s.other.name} gives ${second}, and "
        f"{helper} gives ${third}. The goal is ${goal}. How many dollars are still missing?"
    )
    steps = (
        f"So far the group has {add(first, second, third)} dollars.",
        f"It still needs {sub(goal, total)} dollars.",
    )
    return Problem(story, steps, goal - total)


def tickets(s: Scene) -> Problem:
    draw, who = s.draw, s.who
    child, adult = draw.between(3, 12), draw.between(13, 30)
    children, adults = draw.between(2, 20), draw.between(2, 9)
    total = child * children + adult * adults
    story = (
        f"A ticket for the {draw.pick(modifiers.OF_WORKS)} {draw.pick(nouns.TOPICS)} show in {s.place} costs ${adult} "
        f"for an adult and ${child} for a child. {who.name} buys tickets for {adults} adults and {children} children. "
        f"How much does {who.they} pay altogether?"
    )
    steps = (
        f"The adults pay {mul(adults, adult)} dollars.",
        f"The children pay {mul(children, child)} dollars.",
        f"All tickets together cost {add(adults * adult, children * child)} dollars.",
    )
    return Problem(story, steps, total)


TEMPLATES: tuple[Template, ...] = (shopping, change, savings, discount, wages, profit, fundraising, tickets)
