import Testing

extension Stage {
    /// Judges the page that is open in every look, at twice its size and by the keyboard, and keeps its pictures.
    ///
    /// axe-core, which takes its time, looks once at each colour scheme and at each width.
    func judge(_ name: String, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        for look in Look.all {
            try await look.apply(to: browser)
            var findings = try await PageAudit.findings(in: browser)
            if Axe.isThere, (look.device == "phone") == (look.scheme == .dark) {
                findings += try await Axe.violations(in: browser)
            }
            #expect(findings == [], "\(name), \(look.testDescription)", sourceLocation: sourceLocation)
            try await Screens.keep("\(name)-\(look.suffix)", of: browser)
        }
        // WCAG 1.4.4: 1280 pixels at 200 %.
        try await browser.emulateScreen(width: 640, height: 430, scale: 2)
        #expect(try await PageAudit.findings(in: browser) == [], "\(name), 200 %", sourceLocation: sourceLocation)
        try await Look.all[0].apply(to: browser)
        // Whoever uses the keyboard is shown where they are; one stroke tells the browser that there is one.
        try await browser.press(Key.tab)
        let unseen = try await PageAudit.unseenFocus(in: browser)
        #expect(unseen == [], "\(name)", sourceLocation: sourceLocation)
    }
}
