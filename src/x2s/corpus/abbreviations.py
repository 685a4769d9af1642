"""Abbreviations whose full stop belongs to them, by language: ours, short, and of words that other words follow."""

# Titles, units and the like, as written and with a capital. None that is a word too (German `Art.`, English `No.`).
ABBREVIATIONS: dict[str, frozenset[str]] = {
    code: frozenset(form for word in words.split() for form in (word, word[0].upper() + word[1:]))
    for code, words in {
        "af": "mnr mev dr prof bl nr",
        "de": (
            "Dr Prof Hr Fr Nr St Abs Abb Bd Chr Dipl Ing Jh Mio Mrd Str bzw ca"
            " evtl ggf inkl max vgl sog geb z d u i n v z.B d.h u.a"
        ),
        "bn": "ড ডা মো",
        "el": "κ κα κκ Δρ αρ σελ",
        "en": "Mr Mrs Ms Dr Prof Rev Gen Sen Rep Gov Lt Col Sgt Capt St Jr Sr vs Fig Figs Vol pp ed cf Mt Ft Hon",
        "es": "Sr Sra Srta Dr Dra D Dª Prof Excmo Ud Uds EE núm pág págs cap vol",
        "et": "dr prof hr pr nr lk jne nt vt",
        "eu": "jn and dr prof or zk",
        "fi": "esim mm ns nk ks prof toim nro nr puh klo ym engl tri",
        "fr": "M MM Mme Mlle Dr Pr Prof St Ste Me Mgr chap vol éd cf env fig",
        "hi": "डॉ श्री प्रो",
        "hu": "dr prof ifj id özv pl ún kb",
        "id": "Dr Prof Ir Hj Jl No Tn Ny dll",
        "it": "Sig Sigg Dott Dr Prof Ing Avv pag pagg vol cfr",
        "mr": "डॉ श्री प्रा",
        "ms": "Dr Prof Ir Hj Jl No Tn Ny",
        "nl": "dhr mevr dr prof ir mr nr blz ca bijv",
        "pt": "Sr Sra Srta Dr Dra Prof Profa Exmo nº pág págs cap vol",
        "ru": "г гг в вв т тт см ср им ул д стр тыс млн млрд руб акад проф",
        "bg": "г гг т вж ул д стр хил млн млрд лв проф акад",
        "ta": "திரு டாக்டர்",
        "tr": "Dr Prof Doç Av Sn No vb bkz yy",
        "vi": "TS PGS GS ThS BS TP Tr",
    }.items()
}

# `am 3. Oktober`: languages that write an ordinal with a full stop.
ORDINAL_STOP = frozenset({"de", "et", "eu", "fi", "hu", "tr"})
