"""CSV files of measured times: what is read, and every refusal with its line."""

from __future__ import annotations

import pytest

from graphturbo_core.errors import MeasurementError
from graphturbo_core.report.measured import table
from graphturbo_core.report.measured.table import MeasuredRow, read_measured, template
from tests.report.measured.small_report import LAYERS, small_report


def rows(text: str) -> list[tuple[str, float]]:
    return [(row.name, row.milliseconds) for row in read_measured(text.encode(), "times.csv")]


def refusal(data: str | bytes) -> MeasurementError:
    with pytest.raises(MeasurementError) as caught:
        read_measured(data.encode() if isinstance(data, str) else data, "times.csv")
    assert caught.value.where == "times.csv" and caught.value.change
    return caught.value


def test_rows_have_their_line() -> None:
    found = read_measured(b"layer,milliseconds\na,1.5\n\nb,2e-3\n", "times.csv")
    assert found == (MeasuredRow("a", 1.5, 2), MeasuredRow("b", 0.002, 4))


@pytest.mark.parametrize(
    "text",
    [
        "layer,milliseconds\na,1.5\n",
        "Milliseconds , Layer\r\n1.5,a\r\n",
        "\ufefflayer;milliseconds\na;1.5\n",
        "layer;milliseconds\na;1,5\n",
        'layer,milliseconds\n"a","1.5"\n',
        "layer,milliseconds\na,1.5",
        "layer,ms\na,1.5\n",
        "MS;layer\n1,5;a\n",
    ],
)
def test_forms_that_are_read(text: str) -> None:
    assert rows(text) == [("a", 1.5)]


def test_quoted_names_keep_their_separators() -> None:
    assert rows('layer,milliseconds\n"a, b",1\n"say ""c""",2\n') == [("a, b", 1), ('say "c"', 2)]
    assert rows("layer;milliseconds\na, b;1\n") == [("a, b", 1)]


def test_an_empty_time_is_not_measured() -> None:
    assert rows("layer,milliseconds\na,\nb,3\n") == [("b", 3)]
    assert refusal("layer,milliseconds\na,\n").code == "MEASURED_EMPTY"


@pytest.mark.parametrize(
    "head",
    ["", "a,1.5\n", "layer,s\n", "layer\n", "layer,milliseconds,x\n", "ms,milliseconds\n"],
)
def test_another_header_is_refused(head: str) -> None:
    error = refusal(f"{head}b,2\n" if head else "")
    assert error.code == "MEASURED_HEADER"
    assert "not the columns layer and milliseconds" in error.what


@pytest.mark.parametrize(
    "time", ["x", "-1", "nan", "inf", "1e999", "1_0", "0x10", "1 ms", "--", "1.7e308"]
)
def test_a_wrong_time_is_refused_with_its_line(time: str) -> None:
    error = refusal(f"layer,milliseconds\na,1\nb,{time}\n")
    assert (error.code, error.fields["line"]) == ("MEASURED_ROW", 3)
    assert repr(time) in error.what


def test_a_time_is_at_most_a_billion_ms() -> None:
    assert rows("layer,milliseconds\na,1e9\nb,1e9\n") == [("a", 1e9), ("b", 1e9)]
    error = refusal("layer,milliseconds\na,1.7e308\nb,1.7e308\n")
    assert error.fields["line"] == 2
    assert "at most 1,000,000,000" in error.change
    assert refusal("layer,milliseconds\na,1000000001\n").fields["line"] == 2


def test_a_decimal_comma_needs_semicolons() -> None:
    assert "line 2 has 3 cells" in refusal("layer,milliseconds\na,1,5\n").what


def test_a_name_twice_is_refused() -> None:
    error = refusal("layer,milliseconds\na,1\nb,1\na,2\n")
    assert (error.code, error.what) == ("MEASURED_TWICE", "lines 2 and 4 both name 'a'")


def test_names_have_one_to_500_characters() -> None:
    assert "0 characters" in refusal("layer,milliseconds\n,1\n").what
    assert len(rows(f"layer,milliseconds\n{'n' * 500},1\n")) == 1
    assert "501 characters" in refusal(f"layer,milliseconds\n{'n' * 501},1\n").what


def test_no_text_and_open_quotes_are_refused() -> None:
    assert refusal(b"layer,milliseconds\n\xff,1\n").code == "MEASURED_TEXT"
    assert "is no CSV" in refusal('layer,milliseconds\n"a,1\n').what


def test_caps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "MAX_ROWS", 2)
    assert len(rows("layer,milliseconds\na,1\nb,1\n")) == 2
    assert refusal("layer,milliseconds\na,1\nb,1\nc,1\n").code == "MEASURED_SIZE"
    monkeypatch.setattr(table, "MAX_BYTES", 8)
    assert "more than 8" in refusal("layer,milliseconds\n").what


def test_a_long_cell_is_shortened_in_its_refusal() -> None:
    assert len(refusal(f"layer,milliseconds\na,{'9x' * 5000}\n").what) < 150


def test_the_template_is_a_file_to_fill_in() -> None:
    names = (*LAYERS[:2], "=cmd|'/c calc'!A1")
    text = template(small_report(names))
    assert text.splitlines() == [
        "layer,milliseconds", "stem/conv,", "block/conv,", "'=cmd|'/c calc'!A1,"
    ]  # fmt: skip
    filled = text.replace(",\r\n", ",1\r\n")
    assert rows(filled) == [(name, 1.0) for name in names]
    assert refusal(text).code == "MEASURED_EMPTY"
