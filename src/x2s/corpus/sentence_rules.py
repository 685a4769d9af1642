"""Where a full stop does not end a sentence, and the plain rule for where it does."""

from functools import cache

import regex

# Titles and the like, which a name or number follows: never the end of a sentence. Case-sensitive on purpose.
_ABBREVIATIONS = {
    "de": "Dr Prof Hr Fr Nr St Abs Art Bd Chr Dipl Ing Jh Mio Mrd Str bzw ca evtl ggf inkl max min vgl usw sog geb gest",
    "en": "Mr Mrs Ms Dr Prof Rev Gen Sen Rep Gov Lt Col Sgt Capt St Jr Sr vs No Nos Fig Figs Vol pp ed eds cf Mt Ft Hon",
    "es": "Sr Sra Srta Dr Dra D Dª Prof Excmo Ud Uds núm pág págs art cap vol",
    "fi": "esim mm ns ks prof toim nro puh klo n s os",
    "fr": "M MM Mme Mlle Dr Pr Prof St Ste Me Mgr art chap vol éd cf env fig",
    "it": "Sig Sigg Dott Dr Prof Ing Avv art pag pagg vol cfr ecc",
    "nl": "dhr mevr dr prof ir mr nr blz ca bijv art",
    "pt": "Sr Sra Srta Dr Dra Prof Profa Exmo nº pág págs art cap vol",
    "ru": "г гг в вв т тт см ср им ул д стр тыс млн млрд руб акад проф",
    "tr": "Dr Prof Doç Av Sn No vb bkz yy s",
    "hu": "dr prof ifj id özv pl ún kb",
    "vi": "TS PGS GS ThS BS TP Q P Tr",
}
# `am 3. Oktober`: languages that write ordinals with a full stop.
_ORDINAL = frozenset({"de", "et", "eu", "fi", "hu", "tr", "bg"})


@cache
def never_ends(code: str) -> regex.Pattern[str]:
    """Matches a piece of text that cannot be the whole of a sentence: its last full stop belongs to a word."""
    patterns = [r"(?<![\p{L}\p{N}.'’-])\p{Lu}\.\s*$"]
    if code in _ABBREVIATIONS:
        words = "|".join(map(regex.escape, _ABBREVIATIONS[code].split()))
        patterns.append(rf"(?<![\p{{L}}\p{{N}}])(?:{words})\.\s*$")
    if code in _ORDINAL:
        patterns.append(r"(?<![\p{L}\p{N}.,])\d{1,2}\.\s*$")
    return regex.compile("|".join(patterns))


@cache
def plain_end() -> regex.Pattern[str]:
    """A run of terminal marks with what closes after it, before a space."""
    return regex.compile(r"[.!?…。！？؟।]+[\"'”’»)\]]*(?:\s+|$)|[。！？]+[”’」』）]*")
