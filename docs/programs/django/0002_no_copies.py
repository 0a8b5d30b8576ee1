# The constraint. Django's ExclusionConstraint does not take this access method, so it needs RunSQL. A file
# of pages/migrations, after 0001_initial.py, which makemigrations writes.
from django.db.migrations import Migration, RunSQL

class Migration(Migration):
    dependencies = [("pages", "0001_initial")]
    operations = [RunSQL(
        "ALTER TABLE pages_page ADD CONSTRAINT no_copies EXCLUDE USING simhash (body WITH =~~)",
        "ALTER TABLE pages_page DROP CONSTRAINT no_copies")]
