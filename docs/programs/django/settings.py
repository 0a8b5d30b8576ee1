# The least settings that the program needs.
import os

DATABASES = {"default": {"ENGINE": "django.db.backends.postgresql",
                         "NAME": os.environ["PGDATABASE"]}}
INSTALLED_APPS = ["pages"]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
