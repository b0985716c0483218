"""Tables of figures, stored beside their tests and rewritten by --update."""
import csv


def read_table(path, *keys):
    """Returns the rows by their keys: one column, or a tuple of several."""
    with open(path, newline="") as file:
        return {row[keys[0]] if len(keys) == 1 else tuple(row[key] for key in keys): row for row in csv.DictReader(file)}


def write_table(path, fields, table):
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, fields, lineterminator="\n")
        writer.writeheader()
        writer.writerows(table[key] for key in sorted(table))
