# Makes the tables of pages/models.py and their constraint, in the database of PGDATABASE.
python3 -m django makemigrations pages --settings settings     # writes 0001_initial.py
cp 0002_no_copies.py pages/migrations
python3 -m django migrate --settings settings
