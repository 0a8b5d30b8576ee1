# Makes the tables of models.py by 1_pages.py, in the database of PGDATABASE.
alembic init migrations
sed -i 's|^sqlalchemy.url = .*|sqlalchemy.url = postgresql://|' alembic.ini
sed -i 's|^target_metadata = .*|from models import Base; target_metadata = Base.metadata|' migrations/env.py
cp 1_pages.py migrations/versions
alembic upgrade head
