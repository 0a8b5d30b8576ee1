# The same with SQLAlchemy.
from sqlalchemy import Integer, Text, cast, create_engine, func, select
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from models import Base, Page, Picture

HOUSE = "The boat house is closed from the first to the fifteenth of March for repairs of the roof."
PHASH = 0xd4c4b2a39b6a5937                      # a number from 0 to 2^64 - 1
PDQ = "d4c4b2a39b6a5937" * 4                    # 256 bits in hexadecimal digits

def signed(number):                             # the bigint of the same 64 bits
    return (number ^ 1 << 63) - (1 << 63)

engine = create_engine("postgresql://")
Base.metadata.create_all(engine)                # where no migration has made the tables
with Session(engine) as session:
    for id, body in (1, HOUSE), (2, HOUSE.upper()), (3, HOUSE.replace("March", "April")):
        try:
            with session.begin_nested():
                session.add(Page(id=id, body=body))
            print("page", id, "inserted")
        except IntegrityError as error:
            print("page", id, "refused by", error.orig.diag.constraint_name)
    for id in session.scalars(select(Page.id).where(Page.body.op("=~~")(HOUSE))):
        print("near-duplicate:", id)
    similar = func.near_duplicate(Page.body, HOUSE, 0.6)
    for id in session.scalars(select(Page.id).where(similar).order_by(Page.id)):
        print("similarity .6:", id)
    pairs = func.near_duplicate_pairs("SELECT id, body FROM pages", 0.6)
    for row in session.execute(select(pairs.table_valued("id", "other", "similarity"))):
        print("pair: %s, %s, similarity %.2f" % tuple(row))

    session.add(Picture(name="boat.jpg", phash=signed(PHASH), pdq=func.code_from_hex(PDQ)))
    distance = Picture.phash.op("<~>", return_type=Integer())(signed(PHASH ^ 1))
    for row in session.execute(select(Picture.name, distance).where(distance <= 8)):
        print("%s: %s of 64 bits differ" % tuple(row))
    distance = Picture.pdq.op("<~~>", return_type=Integer())(func.code_from_hex(PDQ))
    for picture in session.scalars(select(Picture).order_by(distance).limit(1)):
        print("nearest:", picture.name, picture.phash % 2**64 == PHASH,
              f"{int(picture.pdq, 2):064x}" == PDQ)

    lists = [cast(["quick", "fox"], ARRAY(Text)), cast(["fox", "quick"], ARRAY(Text))]
    distance = func.minhash_of(lists[0]).op("<~>")(func.minhash_of(lists[1]))
    print("lists: %s bits differ" % session.scalar(select(distance)))
    session.commit()
