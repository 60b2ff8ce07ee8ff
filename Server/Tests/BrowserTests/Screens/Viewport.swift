import Testing

/// A screen size with the user's preferred colour scheme.
struct Viewport: Sendable, CustomTestStringConvertible {
    let device: String
    let width: Int
    let height: Int
    let scheme: Browser.ColorScheme

    static let all = Browser.ColorScheme.allCases.flatMap { scheme in
        [
            Viewport(device: "desktop", width: 1280, height: 860, scheme: scheme),
            Viewport(device: "phone", width: 390, height: 844, scheme: scheme),
        ]
    }

    var testDescription: String { "\(device), \(scheme)" }

    /// The suffix of screenshot names.
    var suffix: String { device + (scheme == .dark ? "-dark" : "") }

    /// Sets the look of a browser, including the open page.
    func apply(to browser: Browser) async throws {
        try await browser.emulateScreen(width: width, height: height, mobile: device == "phone", scale: 1)
        try await browser.emulate(scheme, reducedMotion: true)
    }
}
