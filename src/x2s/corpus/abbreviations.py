"""Abbreviations whose full stop belongs to them, by language: ours, short, and of words that other words follow."""

# Titles, units of reference and the like. Case-sensitive on purpose: `art.` is a word's end in English, `Art.` is not.
ABBREVIATIONS: dict[str, frozenset[str]] = {
    code: frozenset(words.split())
    for code, words in {
        "af": "mnr mev dr prof bl nr",
        "de": "Dr Prof Hr Fr Nr St Abs Art Bd Chr Dipl Ing Jh Mio Mrd Str bzw ca evtl ggf inkl max min vgl sog geb gest",
        "en": "Mr Mrs Ms Dr Prof Rev Gen Sen Rep Gov Lt Col Sgt Capt St Jr Sr vs No Nos Fig Figs Vol pp ed cf Mt Ft Hon",
        "es": "Sr Sra Srta Dr Dra D Dª Prof Excmo Ud Uds núm pág págs art cap vol",
        "et": "dr prof hr pr nr lk jne nt vt",
        "eu": "jn and dr prof or zk",
        "fi": "esim mm ns nk ks prof toim nro nr puh klo ym engl tri",
        "fr": "M MM Mme Mlle Dr Pr Prof St Ste Me Mgr art chap vol éd cf env fig",
        "hu": "dr prof ifj id özv pl ún kb",
        "id": "Dr Prof Ir Hj Jl No Tn Ny dll",
        "it": "Sig Sigg Dott Dr Prof Ing Avv art pag pagg vol cfr",
        "ms": "Dr Prof Ir Hj Jl No Tn Ny",
        "nl": "dhr mevr dr prof ir mr nr blz ca bijv art",
        "pt": "Sr Sra Srta Dr Dra Prof Profa Exmo nº pág págs art cap vol",
        "ru": "г гг в вв т тт см ср им ул д стр тыс млн млрд руб акад проф",
        "bg": "г гг т вж ул д стр хил млн млрд лв проф акад",
        "tr": "Dr Prof Doç Av Sn No vb bkz yy",
        "vi": "TS PGS GS ThS BS TP Tr",
    }.items()
}

# `am 3. Oktober`: languages that write an ordinal with a full stop.
ORDINAL_STOP = frozenset({"de", "et", "eu", "fi", "hu", "tr"})
