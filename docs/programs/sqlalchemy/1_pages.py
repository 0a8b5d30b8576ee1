# A migration of Alembic that makes the same tables: a file of migrations/versions.
import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import BIT

revision = "1"
down_revision = None

def upgrade():
    op.execute("CREATE EXTENSION IF NOT EXISTS simhash")
    op.create_table("pages", sa.Column("id", sa.Integer, primary_key=True),
                    sa.Column("body", sa.Text))
    op.create_exclude_constraint("no_copies", "pages", ("body", "=~~"), using="simhash")
    op.create_table("pictures", sa.Column("id", sa.Integer, primary_key=True),
                    sa.Column("name", sa.Text), sa.Column("phash", sa.BigInteger),
                    sa.Column("pdq", BIT(256)))
    op.create_index("pictures_phash", "pictures", ["phash"],
                    postgresql_using="simhash", postgresql_with={"radius": 6})
    op.create_index("pictures_pdq", "pictures", ["pdq"], postgresql_using="simhash",
                    postgresql_ops={"pdq": "bit_ops"})      # the default

def downgrade():
    op.drop_table("pictures")
    op.drop_table("pages")
