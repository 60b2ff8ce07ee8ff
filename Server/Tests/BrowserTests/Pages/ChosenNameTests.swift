import CounterfoilServer
import CounterfoilStore
import Foundation
import Testing

@Suite struct ChosenNameTests {
    @Test(arguments: [
        ("Lightbox\u{202E}moc.elgoog", "Lightboxmoc.elgoog"),
        ("a\u{2066}b\u{2069}c\u{200F}d\u{061C}e", "abcde"),
        ("Light\u{0000}\u{001B}[31mbox", "Light[31mbox"),
        ("  two\n\t lines\u{2028}here\u{00A0} ", "two lines here"),
        ("Go\u{200B}o\u{FEFF}g\u{00AD}l\u{3164}e", "Google"),
        ("Lab\u{200D}el", "Label"),
        ("👩‍👩‍👧 Family", "👩‍👩‍👧 Family"),
        ("می‌خواهم", "می‌خواهم"),
        ("Z\u{0301}\u{0302}\u{0303}\u{0304}\u{0305}algo", "Z\u{0301}\u{0302}\u{0303}algo"),
        ("\u{202E}\u{200B}\n", "fallback"),
    ])
    func `a client's name is stripped of control, invisible and combining characters`(chosen: String, shown: String) {
        #expect(DisplayName(chosen, orElse: "fallback").description == shown)
    }

    @Test(arguments: [10_000, 61, 2_000_000])
    func `a long name is truncated with an ellipsis`(length: Int) {
        let name = DisplayName(String(repeating: "x", count: length)).description
        #expect(name.count == DisplayName.maximumLength)
        #expect(name.hasSuffix("…"))
    }

    @Test(arguments: [
        ("Example Photos", "EP"), ("Lightbox", "Li"), ("élan vital libre", "ÉV"), ("7", "7"), ("(beta) app", "BA"),
        ("🦊", "🦊"),
    ])
    func `initials represent a name`(name: String, initials: String) {
        #expect(DisplayName(name).initials == initials)
    }

    @Test(arguments: [
        ("alice@example.com", "al•••@example.com"), ("bob@example.com", "b•••@example.com"), ("@x.y", "•••@x.y"),
        ("no address", "no•••"), ("\"a@b\"@example.com", "\"a•••@example.com"),
    ])
    func `a masked email address reveals little of its user`(address: String, shown: String) {
        #expect(MaskedEmail(address).description == shown)
    }

    // A quotation mark with an accent is one character in Swift and two in a browser.
    @Test(
        .realBrowser,
        arguments: [
            #"<img src=x onerror="document.title='taken'">"#,
            "\"\u{0301} autofocus onfocus=\"document.title='taken'\" x=\"",
            "'\u{0338}><script>document.title='taken'</script>",
            "</title><script>document.title='taken'</script>",
            "{{{page.ticket}}}{{> alert}}",
        ])
    func `a name or a user name that looks like HTML is shown as text`(text: String) async throws {
        var signIn = SamplePage.signInAgain
        signIn.username = text
        var consent = SamplePage.consent
        consent.clientName = DisplayName(text)
        consent.publisher = DisplayName(text)
        consent.permissions[0].title = text
        consent.redirectDestination = .website(host: text)
        try await PageFolder.run { folder in
            let first = try folder.write(signIn, as: "sign-in")
            let second = try folder.write(consent, as: "consent")
            try await Browser.run { browser in
                try await browser.navigate(to: first)
                #expect(try await browser.find("#username").property("value")?.string == text)
                try await expectUntaken(browser)
                try await browser.navigate(to: second)
                #expect(try await browser.find(".what b").text == text)
                #expect(try await browser.text.contains(SamplePage.consent.ticket) == false)
                try await expectUntaken(browser)
            }
        }
    }

    private func expectUntaken(_ browser: Browser) async throws {
        #expect(try await browser.title != "taken")
        #expect(try await browser.findAll("img, script, [onfocus], [onerror]").isEmpty)
    }
}
