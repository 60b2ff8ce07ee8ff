import Testing

extension Stage {
    /// Checks the open page in every look, at 200 % and with the keyboard, and saves its screenshots.
    ///
    /// axe-core is slow, so it runs once per colour scheme and once per width.
    func judge(_ name: String, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        for look in Viewport.all {
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
        try await Viewport.all[0].apply(to: browser)
        // The page shows the focus to keyboard users; one key press tells the browser that there is a
        // keyboard. A redirect to an app makes the browser open a dialog, which takes the focus.
        try await browser.emulateFocus()
        try await browser.press(Key.tab)
        var unseen: [String] = ["the audit did not run"]
        // The window gets the focus back a moment after such a dialog closes.
        try? await browser.waitFor("the focus of the window", within: .seconds(10)) {
            unseen = try await PageAudit.unseenFocus(in: browser)
            return unseen.isEmpty
        }
        #expect(unseen == [], "\(name)", sourceLocation: sourceLocation)
    }
}
