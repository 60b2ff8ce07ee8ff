import Testing

/// A screen, and what its owner likes.
struct Look: Sendable, CustomTestStringConvertible {
    let device: String
    let width: Int
    let height: Int
    let scheme: Browser.ColorScheme

    static let all = Browser.ColorScheme.allCases.flatMap { scheme in
        [
            Look(device: "desktop", width: 1280, height: 860, scheme: scheme),
            Look(device: "phone", width: 390, height: 844, scheme: scheme),
        ]
    }

    var testDescription: String { "\(device), \(scheme)" }

    /// The end of the names of pictures.
    var suffix: String { device + (scheme == .dark ? "-dark" : "") }

    /// Makes a browser look so, also on the page that is open.
    func apply(to browser: Browser) async throws {
        try await browser.emulateScreen(width: width, height: height, mobile: device == "phone", scale: 1)
        try await browser.emulate(scheme, reducedMotion: true)
    }
}
