"""The shop: sellers, products, reviews; carts, wish lists, orders and memberships of people."""

from random import Random
from typing import Any

from world.catalogue import PRODUCTS, SELLERS
from world.engine import NOW, Engine, ago
from world.people import Person, residents, supervisors

_COLORS = ("black", "white", "green", "blue", "red")

_REVIEWS = {
    2: ("Disappointing", "Looks nice, but it broke in the second week."),
    3: ("It does the job", "Nothing special, nothing wrong."),
    4: ("Good value", "Better than I had expected at this price."),
    5: ("Excellent", "I would buy it again at once."),
}

_QUESTIONS = (
    ("Does it come with a warranty?", "Yes, two years."),
    ("Is it sold in other colors?", "Not at the moment."),
    ("How heavy is it with the packaging?", "About a kilogram."),
)


def fill_amazon(engine: Engine, rng: Random) -> None:
    """Makes the catalogue, then what the supervisors want, buy and send back."""
    products = _fill_catalogue(engine, rng)
    for name in ("UPS", "USPS", "FedEx"):
        engine.models.amazon.Deliverer.create_save(name=name)
    for code, kind, discount in (("SPRNG", "percent", 10.0), ("FLAT5", "flat", 5.0)):
        engine.models.amazon.Promo.create_save(
            code=code, type=kind, discount=discount, min_amount=30.0
        )
    for place, person in enumerate(supervisors()):
        _fill_customer(engine, rng, person, products, is_prime=place % 2 == 0)
    _fill_opinions(engine, rng, products)


def _fill_catalogue(engine: Engine, rng: Random) -> list[Any]:
    models = engine.models.amazon
    engine.at(ago(700))
    sellers = [models.Seller.create_save(name=name) for name in SELLERS]
    products = []
    for product_type, offers in PRODUCTS.items():
        for name, price in offers:
            seller = rng.choice(sellers)
            product = models.Product.create_save(
                product_type=product_type,
                name=name,
                description=f"A {product_type} by {seller.name}, made to last.",
                seller_id=seller.id,
                price=price,
                delivery_days=rng.randrange(1, 8),
                inventory_quantity=rng.randrange(30, 90),
                weight=rng.randrange(1, 40) / 10,
                length=float(rng.randrange(5, 30)),
                width=float(rng.randrange(4, 20)),
                height=float(rng.randrange(2, 20)),
                color=rng.choice(_COLORS),
            )
            products.append(product)
    return products


def _fill_customer(
    engine: Engine, rng: Random, person: Person, products: list[Any], is_prime: bool
) -> None:
    """Three orders of two products, six wishes, a cart of two; every other one has Prime."""
    models = engine.models.amazon
    user = engine.user("amazon", person)
    cards = models.PaymentCard.find_all(user_id=user.id)
    addresses = models.Address.find_all(user_id=user.id)
    if is_prime:
        engine.at(ago(25))
        engine.call(
            "amazon", "subscribe_prime", person, payment_card_id=cards[0].id, duration="monthly"
        )
    chosen = rng.sample(products, 14)
    for turn, days in enumerate((80, 34, 4)):
        engine.at(ago(days, hour=rng.randrange(8, 22)))
        for product in chosen[turn * 2 : turn * 2 + 2]:
            _add_to_cart(engine, person, product, rng.randrange(1, 3))
        engine.call(
            "amazon",
            "place_order",
            person,
            payment_card_id=cards[turn % 2].id,
            address_id=addresses[0].id,
        )
    for item in models.OrderItem.all():
        if item.delivered_at is None and item.expected_delivery_at < NOW:
            item.delivered_at = item.expected_delivery_at
            item.save()
    engine.at(ago(2))
    for product in chosen[6:12]:
        engine.call("amazon", "add_product_to_wish_list", person, product_id=product.id)
    for product in chosen[12:]:
        _add_to_cart(engine, person, product, 1)


def _add_to_cart(engine: Engine, person: Person, product: Any, quantity: int) -> None:
    engine.call("amazon", "add_product_to_cart", person, product_id=product.id, quantity=quantity)


def _fill_opinions(engine: Engine, rng: Random, products: list[Any]) -> None:
    """A review or two a product, and some questions with their answers."""
    models = engine.models.amazon
    people = [engine.user("amazon", person) for person in residents()]
    for product in products:
        for user in rng.sample(people, 1 + rng.randrange(2)):
            engine.at(ago(rng.randrange(30, 200)))
            rating = rng.randrange(2, 6)
            title, text = _REVIEWS[rating]
            models.ProductReview.create_save(
                product_id=product.id,
                user_id=user.id,
                is_verified=rng.random() < 0.5,
                rating=rating,
                title=title,
                text=text,
            )
    for product in rng.sample(products, 8):
        asker, answerer = rng.sample(people, 2)
        question, answer = rng.choice(_QUESTIONS)
        row = models.ProductQuestion.create_save(
            product_id=product.id, user_id=asker.id, question=question
        )
        models.ProductQuestionAnswer.create_save(
            product_question_id=row.id, user_id=answerer.id, is_verified=False, answer=answer
        )
