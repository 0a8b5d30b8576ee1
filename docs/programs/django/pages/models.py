# Models use simhash.py as they use Django's own classes.
from django.db.models import BigIntegerField, Model, TextField

from pages.simhash import CodeField, SimhashIndex

class Page(Model):
    body = TextField()

class Picture(Model):
    name = TextField()
    phash = BigIntegerField()
    pdq = CodeField(256)

    class Meta:
        indexes = [
            SimhashIndex(fields=["phash"], name="pictures_phash", parameters={"radius": 6}),
            SimhashIndex(fields=["pdq"], name="pictures_pdq")]
