import CounterfoilConsole
import CounterfoilPages
import CounterfoilServer
import CounterfoilStore
import TestSupport
import Testing

/// The pages in every language, without a browser.
struct LanguageTests {
    @Test(arguments: Language.allCases)
    func `every page is rendered in every language`(language: Language) throws {
        let renderer = try PageRenderer(pages: .console)
        let frame = Frame(site: SamplePage.frame.site, language: language)
        for sample in SamplePage.all {
            let html = String(decoding: try renderer.render(sample.page, in: frame), as: UTF8.self)
            #expect(html.contains("<html lang=\"\(language.rawValue)\">"), "\(sample.name)")
            #expect(!html.contains("[[") && !html.contains("{{"), "\(sample.name)")
        }
    }

    @Test func `a name is isolated from the surrounding text, and bold words are bold`() throws {
        let frame = Frame(site: SamplePage.frame.site, language: .german)
        let html = String(
            decoding: try PageRenderer(pages: .console).render(SamplePage.signIn, in: frame), as: UTF8.self)
        #expect(html.contains("<title>Anmelden – Example Photos</title>"))
        #expect(html.contains("<h1>Bei <bdi>Example Photos</bdi> anmelden</h1>"))
        #expect(html.contains("<b><bdi>Lightbox</bdi></b>"))
    }

    @Test func `the logos of the site and of the app replace the initials`() throws {
        let site = CounterfoilServer.Site(
            name: "Example Photos", logo: "/logos/site", supportURI: "https://help.example.com/?a=1&b=2")
        var consent = SamplePage.consent
        consent.clientLogo = "/logos/application"
        let html = String(
            decoding: try PageRenderer(pages: .console).render(consent, in: Frame(site: site)), as: UTF8.self)
        #expect(html.contains(#"<span class="logo"><img src="/logos/application" alt=""></span>"#))
        #expect(html.contains(#"<span class="logo site"><img src="/logos/site" alt=""></span>"#))
        #expect(html.contains(#"href="https://help.example.com/?a=1&amp;b=2""#))
        let plain = String(
            decoding: try PageRenderer(pages: .console).render(SamplePage.consent, in: SamplePage.frame), as: UTF8.self)
        #expect(plain.contains(#"<span class="logo">Li</span>"#))
        #expect(plain.contains(#"<span class="logo site">EP</span>"#))
    }

    @Test func `every template is well formed and uses only existing placeholders`() throws {
        try PageRenderer(pages: .console).parseAll()
    }
}
