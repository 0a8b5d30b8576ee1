# Tables with their constraint and indexes, for SQLAlchemy.
from sqlalchemy import BigInteger, Column, Index, Integer, Text
from sqlalchemy.dialects.postgresql import BIT, ExcludeConstraint
from sqlalchemy.orm import declarative_base

Base = declarative_base()

class Page(Base):
    __tablename__ = "pages"
    id = Column(Integer, primary_key=True)
    body = Column(Text)
    __table_args__ = (ExcludeConstraint(("body", "=~~"), using="simhash", name="no_copies"),)

class Picture(Base):
    __tablename__ = "pictures"
    id = Column(Integer, primary_key=True)
    name = Column(Text)
    phash = Column(BigInteger)
    pdq = Column(BIT(256))
    __table_args__ = (
        Index("pictures_phash", "phash", postgresql_using="simhash", postgresql_with={"radius": 6}),
        Index("pictures_pdq", "pdq", postgresql_using="simhash"))
