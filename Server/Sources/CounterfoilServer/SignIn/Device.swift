/// The browser and the device of a session under their common names, such as Firefox on Linux or Safari on iPhone.
///
/// The names are derived from the `User-Agent` field. They help a user to recognize a session, but they prove
/// nothing, because a user agent can send any value.
package struct Device: Localized, Hashable {
    private enum Kind: Hashable {
        case browser(String)
        case anyBrowser
        case app
        case program
    }

    private let kind: Kind
    private let system: String?

    /// Parses a stored `User-Agent`, which may be empty.
    package init(userAgent: String) {
        let agent = UserAgent(userAgent)
        system = Self.systems.first { agent.says(anyOf: $0.words) && $0.also.allSatisfy { agent.says($0) } }?.name
        if WebView(userAgent: userAgent) != nil {
            kind = .app
        } else if let browser = Self.browsers.first(where: { agent.says(anyOf: $0.words) }) {
            kind = .browser(browser.name)
        } else if agent.says("Mozilla") && system != nil {
            kind = .anyBrowser
        } else {
            kind = .program
        }
    }

    /// The localized description; names of browsers and systems are not translated.
    package var text: LocalizedText {
        switch (kind, system) {
        case (.browser(let browser), let system?):
            LocalizedText("device.browser-on-system", ["browser": .text(browser), "system": .text(system)])
        case (.browser(let browser), nil): LocalizedText("device.browser", ["browser": .text(browser)])
        case (.anyBrowser, let system?): LocalizedText("device.any-browser-on-system", ["system": .text(system)])
        case (.app, let system?): LocalizedText("device.app-on-system", ["system": .text(system)])
        case (.program, let system?): LocalizedText("device.program-on-system", ["system": .text(system)])
        case (.app, nil): LocalizedText("device.app")
        case (.anyBrowser, nil), (.program, nil): LocalizedText("device.program")
        }
    }

    /// A product name, and the words in `User-Agent` that identify it: at least one of `words` and all of `also`.
    private struct Name {
        let name: String
        let words: [String]
        var also: [String] = []
    }

    /// The known browsers; the first match wins.
    ///
    /// A browser can also send the names of other browsers that it is compatible with, so their entries come later.
    private static let browsers = [
        Name(name: "Edge", words: ["Edg", "EdgA", "EdgiOS", "Edge"]),
        Name(name: "Opera", words: ["OPR", "OPT", "OPiOS", "OPX", "Opera"]),
        Name(name: "Samsung Internet", words: ["SamsungBrowser"]),
        Name(name: "Vivaldi", words: ["Vivaldi"]),
        Name(name: "Brave", words: ["Brave"]),
        Name(name: "Yandex Browser", words: ["YaBrowser"]),
        Name(name: "DuckDuckGo", words: ["DuckDuckGo", "Ddg"]),
        Name(name: "Mi Browser", words: ["MiuiBrowser"]),
        Name(name: "UC Browser", words: ["UCBrowser"]),
        Name(name: "Huawei Browser", words: ["HuaweiBrowser"]),
        Name(name: "Google", words: ["GSA"]),
        Name(name: "Firefox Focus", words: ["Focus", "Klar"]),
        Name(name: "Firefox", words: ["Firefox", "FxiOS"]),
        Name(name: "Chromium", words: ["Chromium"]),
        Name(name: "Chrome", words: ["Chrome", "CriOS", "HeadlessChrome"]),
        Name(name: "GNOME Web", words: ["Epiphany"]),
        Name(name: "Safari", words: ["Safari"]),
        Name(name: "Internet Explorer", words: ["Trident", "MSIE"]),
    ]

    /// The known operating systems; the first match wins.
    ///
    /// An iPad that requests desktop pages sends `Macintosh` like a Mac. It is recognized only if its browser also
    /// sends `Mobile`, which a Mac never sends.
    private static let systems = [
        Name(name: "iPhone", words: ["iPhone", "iPod"]),
        Name(name: "iPad", words: ["iPad"]),
        Name(name: "iPad", words: ["Macintosh"], also: ["Mobile"]),
        Name(name: "Android", words: ["Android"]),
        Name(name: "Windows", words: ["Windows"]),
        Name(name: "Mac", words: ["Macintosh"]),
        Name(name: "ChromeOS", words: ["CrOS"]),
        Name(name: "Linux", words: ["Linux"]),
        Name(name: "FreeBSD", words: ["FreeBSD"]),
        Name(name: "OpenBSD", words: ["OpenBSD"]),
    ]
}
