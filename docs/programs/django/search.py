# The same with Django.
import os
import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "settings")
django.setup()
from django.db import IntegrityError, connection, transaction
from django.db.models import BooleanField, Func, Value
from pages.models import Page, Picture
from pages.simhash import CodeDistance, Distance

HOUSE = "The boat house is closed from the first to the fifteenth of March for repairs of the roof."
PHASH = 0xd4c4b2a39b6a5937                      # a number from 0 to 2^64 - 1
PDQ = "d4c4b2a39b6a5937" * 4                    # 256 bits in hexadecimal digits

def signed(number):                             # the bigint of the same 64 bits
    return (number ^ 1 << 63) - (1 << 63)

for id, body in (1, HOUSE), (2, HOUSE.upper()), (3, HOUSE.replace("March", "April")):
    try:
        with transaction.atomic():
            Page.objects.create(id=id, body=body)
        print("page", id, "inserted")
    except IntegrityError as error:
        print("page", id, "refused by", error.__cause__.diag.constraint_name)
for page in Page.objects.filter(body__near_duplicate=HOUSE):
    print("near-duplicate:", page.id)
similar = Func("body", Value(HOUSE), 0.6, function="near_duplicate", output_field=BooleanField())
for page in Page.objects.filter(similar).order_by("id"):
    print("similarity .6:", page.id)
with connection.cursor() as cursor:
    cursor.execute("SELECT * FROM near_duplicate_pairs(%s, %s)",
                   ["SELECT id, body FROM pages_page", 0.6])
    for row in cursor.fetchall():
        print("pair: %s, %s, similarity %.2f" % row)

Picture.objects.create(name="boat.jpg", phash=signed(PHASH), pdq=PDQ)
pictures = Picture.objects.annotate(
    bits=Distance("phash", signed(PHASH ^ 1)),
    code_bits=CodeDistance("pdq", Func(Value(PDQ), function="code_from_hex")))
for picture in pictures.filter(bits__lte=8):
    print(f"{picture.name}: {picture.bits} of 64 bits differ")
for picture in pictures.order_by("code_bits")[:1]:
    print("nearest:", picture.name, picture.phash % 2**64 == PHASH, picture.pdq == PDQ)
