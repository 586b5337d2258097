# writes N orders with their customers and products: python3 generate_orders.py N OUT.json
import json
import random
import sys

count, path = int(sys.argv[1]), sys.argv[2]
draw = random.Random(11)
customers, products = max(1, count // 10), max(3, count // 40)
words = ["Keller", "Söhne", "Atelier", "Lefèvre", "Nordvik", "Havn", "Bjørkås", "Supply", "& Co", "東京"]


def section(name, rows, end):
    out.write(f'"{name}": [\n')
    before = ""
    for row in rows:
        out.write(before + json.dumps(row, ensure_ascii=False))
        before = ",\n"
    out.write("\n]" + end)


def order(number):
    lines = [
        {"no": no + 1, "sku": f"P{product:06d}", "quantity": draw.randint(1, 20),
         "price": f"{draw.randint(1, 500)}.{draw.randint(0, 99):02d}"}
        for no, product in enumerate(draw.sample(range(products), 3))
    ]
    placed = f"20{draw.randint(10, 25)}-{draw.randint(1, 12):02d}-{draw.randint(1, 28):02d}"
    return {"number": number, "placed": placed, "customer": f"C{draw.randrange(customers):07d}",
            "note": draw.choice([None, "leave at the door", "gift"]), "lines": lines}


with open(path, "w", encoding="utf-8") as out:
    out.write("{\n")
    section("customers", ({"id": f"C{i:07d}", "name": " ".join(draw.sample(words, 2)),
                           "city": draw.choice(["Bergen", "Paris", "Kyoto", None])}
                          for i in range(customers)), ",\n")
    section("products", ({"sku": f"P{i:06d}", "title": " ".join(draw.sample(words, 3))}
                         for i in range(products)), ",\n")
    numbers = list(range(1, count + 1))
    draw.shuffle(numbers)
    section("orders", map(order, numbers), "\n")
    out.write("}\n")
