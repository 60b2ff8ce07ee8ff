import CounterfoilServer
import CounterfoilStore
import Testing

/// The language of a response.
struct LanguageTests {
    // OpenID Connect Core §3.1.2.1: ui_locales is a list of tags in the order of preference.
    @Test(arguments: [
        ("de", Language.german), ("de-AT", .german), ("DE-de", .german), ("no", .norwegian), ("nn-NO", .norwegian),
        ("nb", .norwegian), ("fr-CA fr en", .french), ("tlh xx es", .spanish), ("en-GB de", .english),
        ("  de  ", .german),
    ])
    func `the first supported tag of ui_locales is used`(uiLocales: String, language: Language) {
        #expect(Language.negotiate(uiLocales: uiLocales, acceptLanguage: "it, en;q=0.1") == language)
    }

    // RFC 9110 §12.5.4
    @Test(arguments: [
        ("de", Language.german), ("de-CH, de;q=0.9, en;q=0.8", .german), ("en;q=0.5, fr;q=0.9", .french),
        ("it, es;q=0.3, de;q=0.30", .spanish), ("nn, nb;q=0.9", .norwegian), ("no", .norwegian),
        ("de;q=0, fr;q=0.1", .french), ("de;q=0.001, fr;q=0", .german), ("it, *;q=0.5", .english),
        ("en;q=0, *;q=0.5", .german), ("fr;q=0.4, *", .english), ("DE;Q=1.000", .german), ("de ; q=0.7 , fr", .french),
        ("*", .english), ("de-Latn-AT-1996", .german),
    ])
    func `the preferred language of the browser is used`(acceptLanguage: String, language: Language) {
        #expect(Language.negotiate(uiLocales: nil, acceptLanguage: acceptLanguage) == language)
        #expect(Language.negotiate(uiLocales: "tlh", acceptLanguage: acceptLanguage) == language)
    }

    // Invalid entries are ignored.
    @Test(arguments: [
        "", " ", "../../etc/passwd", "x", "de_DE", "deu", "\u{0}", "-", "-de", "{de}", ";;;,,,=", "🇩🇪",
        String(repeating: "x ", count: 5000) + "de", String(repeating: "x,", count: 5000) + "de",
    ])
    func `garbage means English`(garbage: String) {
        #expect(Language.negotiate(uiLocales: garbage, acceptLanguage: garbage) == .english)
    }

    // RFC 9110 §12.4.2: a weight has at most three digits after the point and is at most 1.
    @Test(arguments: ["q=1.5", "q=2", "q=0.1234", "q=", "q=.5", "q=-1", "q=1e3", "q=0.5;q=1", "level=1", "q=٠.٥"])
    func `an entry with an invalid weight is ignored`(weight: String) {
        #expect(Language.negotiate(uiLocales: nil, acceptLanguage: "de;\(weight), fr;q=0.1") == .french)
    }

    @Test func `no preference means English`() {
        #expect(Language.negotiate(uiLocales: nil, acceptLanguage: nil) == .english)
    }
}
