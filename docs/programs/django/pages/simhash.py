# An index, a lookup, distances, and a field for codes: to be copied into an app.
from django.contrib.postgres.indexes import PostgresIndex
from django.db.models import Field, Func, IntegerField, Lookup, TextField

class SimhashIndex(PostgresIndex):
    suffix = "simhash"                          # the access method

    def __init__(self, *expressions, parameters=(), **options):
        self.parameters = dict(parameters)      # such as {"radius": 6}
        super().__init__(*expressions, **options)

    def deconstruct(self):
        path, expressions, options = super().deconstruct()
        return path, expressions, {**options, "parameters": self.parameters}

    def get_with_params(self):
        return [f"{name} = {value}" for name, value in self.parameters.items()]

@TextField.register_lookup
class NearDuplicate(Lookup):                    # filter(body__near_duplicate=text)
    lookup_name = "near_duplicate"

    def as_sql(self, compiler, connection):
        left, left_values = self.process_lhs(compiler, connection)
        right, right_values = self.process_rhs(compiler, connection)
        return f"{left} =~~ {right}", [*left_values, *right_values]

class Distance(Func):                           # of two fingerprints
    template, arg_joiner, output_field = "(%(expressions)s)", " <~> ", IntegerField()

class CodeDistance(Distance):                   # of two codes
    arg_joiner = " <~~> "

class CodeField(Field):                         # a bit(n), in hexadecimal digits
    def __init__(self, bits, **options):
        self.bits = bits
        super().__init__(**options)

    def deconstruct(self):
        name, path, arguments, options = super().deconstruct()
        return name, path, [self.bits, *arguments], options

    def db_type(self, connection):
        return f"bit({self.bits})"

    def get_placeholder(self, value, compiler, connection):
        return "code_from_hex(%s)"

    def from_db_value(self, value, expression, connection):
        return value and f"{int(value, 2):0{self.bits // 4}x}"
