import Foundation
import NIOHTTP1
import TestSupport

/// A Chromium that a test controls through W3C WebDriver; headless unless it runs on a desktop.
struct Browser: Sendable {
    /// The preferred colour scheme of the user's system.
    enum ColorScheme: String, Sendable, CaseIterable {
        case light
        case dark
    }

    let session: WebDriverConnection

    /// Runs `body` with a new browser that has an empty profile, and stops the browser afterwards.
    static func run<Result>(
        on desktop: VirtualDesktop? = nil, _ body: (Browser) async throws -> Result
    ) async throws -> Result {
        try await withDriver(on: desktop) { binary, driver in
            try await visit(binary, driver, on: desktop, body)
        }
    }

    /// Runs two functions with one profile; between them the browser is closed, and a new one is started.
    static func run(
        _ body: (Browser) async throws -> Void, andAfterRestart later: (Browser) async throws -> Void
    ) async throws {
        try await withDriver(on: nil) { binary, driver in
            try await visit(binary, driver, on: nil, body)
            try await visit(binary, driver, on: nil, later)
        }
    }

    /// Runs `body` with the path of the browser and a new driver, and stops the driver afterwards.
    private static func withDriver<Result>(
        on desktop: VirtualDesktop?, _ body: (String, ChromeDriver) async throws -> Result
    ) async throws -> Result {
        guard let binary = ChromeDriver.browser else { throw WebDriverError.notInstalled("chromium") }
        let driver = try await ChromeDriver.start(on: desktop)
        do {
            let result = try await body(binary, driver)
            await driver.stop()
            return result
        } catch {
            await driver.stop()
            throw error
        }
    }

    /// Runs `body` with a new browser that has the profile of the driver, and closes the browser afterwards.
    private static func visit<Result>(
        _ binary: String, _ driver: ChromeDriver, on desktop: VirtualDesktop?,
        _ body: (Browser) async throws -> Result
    ) async throws -> Result {
        let browser = try await open(binary, driver, on: desktop)
        do {
            let result = try await body(browser)
            try await browser.quit()
            return result
        } catch {
            try? await browser.quit()
            throw error
        }
    }

    private static func open(
        _ binary: String, _ driver: ChromeDriver, on desktop: VirtualDesktop?
    ) async throws -> Browser {
        var arguments: [JSONValue] = [
            "--window-size=1280,900", "--no-first-run", "--no-default-browser-check", "--lang=en",
            "--hide-scrollbars", "--disable-background-networking", "--disable-component-update", "--disable-sync",
            "--disable-dev-shm-usage",
            .string("--user-data-dir=" + driver.folder.appendingPathComponent("profile").path),
        ]
        if desktop == nil { arguments.append("--headless=new") }
        // Chromium's sandbox does not run as root, for example in a container.
        if geteuid() == 0 { arguments.append("--no-sandbox") }
        let capabilities: JSONValue = [
            "browserName": "chrome",
            "goog:chromeOptions": [
                "binary": .string(binary), "args": .array(arguments), "prefs": desktop?.preferences ?? [:],
            ],
            "goog:loggingPrefs": ["performance": "ALL", "browser": "ALL"],
        ]
        let answer = try await WebDriverConnection(address: driver.address)
            .send(.POST, "/session", ["capabilities": ["alwaysMatch": capabilities]])
        guard let id = answer["sessionId"]?.string else { throw WebDriverError.notUnderstood("new session") }
        let browser = Browser(session: WebDriverConnection(address: "\(driver.address)/session/\(id)"))
        // Leaves the browser's start page, whose requests are not part of the test.
        try await browser.navigate(to: "about:blank")
        _ = try await browser.requestedURLs()
        return browser
    }

    private func quit() async throws {
        _ = try await session.send(.DELETE, "")
    }
}

// MARK: - Navigation

extension Browser {
    /// Opens a URL and waits until it is loaded.
    func navigate(to url: String) async throws {
        _ = try await session.send(.POST, "/url", ["url": .string(url)])
    }

    /// Goes back one page.
    func goBack() async throws {
        _ = try await session.send(.POST, "/back")
    }

    /// The URL in the address bar.
    var currentURL: String {
        get async throws { try await session.send(.GET, "/url").string ?? "" }
    }

    /// The title of the page.
    var title: String {
        get async throws { try await session.send(.GET, "/title").string ?? "" }
    }

    /// The current page as HTML.
    var source: String {
        get async throws { try await session.send(.GET, "/source").string ?? "" }
    }

    /// The visible text of the page.
    var text: String {
        get async throws { try await find("body").text }
    }

    /// Polls a condition until it holds, or throws after the limit.
    func waitFor(
        _ what: String, within limit: Duration = .seconds(60), _ holds: () async throws -> Bool
    ) async throws {
        try await poll(what, within: limit) { try await holds() ? () : nil }
    }

    /// Waits until the URL starts with a prefix, and returns the complete URL.
    func waitForURL(startingWith prefix: String, within limit: Duration = .seconds(60)) async throws -> String {
        try await poll("the address \(prefix)", within: limit) {
            let url = try await currentURL
            return url.hasPrefix(prefix) ? url : nil
        }
    }
}

// MARK: - Tabs

extension Browser {
    /// The tab to which commands go.
    var tab: String {
        get async throws { try await session.send(.GET, "/window").string ?? "" }
    }

    /// Opens an empty tab and returns it; commands still go to the current one.
    func openTab() async throws -> String {
        try await session.send(.POST, "/window/new", ["type": "tab"])["handle"]?.string ?? ""
    }

    /// Sends the next commands to a tab.
    func use(_ tab: String) async throws {
        _ = try await session.send(.POST, "/window", ["handle": .string(tab)])
    }

    /// Closes the current tab; the next command must name another one.
    func closeTab() async throws {
        _ = try await session.send(.DELETE, "/window")
    }
}

// MARK: - Inspection

extension Browser {
    /// Returns the first element that matches a CSS selector.
    func find(_ css: String) async throws -> Element {
        let answer = try await session.send(.POST, "/element", ["using": "css selector", "value": .string(css)])
        return try Element(answer, session: session)
    }

    /// Returns every element that matches a CSS selector.
    func findAll(_ css: String) async throws -> [Element] {
        let answer = try await session.send(.POST, "/elements", ["using": "css selector", "value": .string(css)])
        return try (answer.array ?? []).map { try Element($0, session: session) }
    }

    /// Waits until an element matches a CSS selector, and returns it.
    func waitForElement(_ css: String, within limit: Duration = .seconds(60)) async throws -> Element {
        try await poll("an element \(css)", within: limit) { try await findAll(css).first }
    }

    /// Runs the body of a JavaScript function in the page and returns its result.
    func execute(_ script: String, _ arguments: [JSONValue] = []) async throws -> JSONValue {
        try await session.send(.POST, "/execute/sync", ["script": .string(script), "args": .array(arguments)])
    }

    /// The cookies of the page, with their names, values and attributes.
    var cookies: [JSONValue] {
        get async throws { try await session.send(.GET, "/cookie").array ?? [] }
    }

    /// Returns a screenshot of the page as a PNG file, from its top to a maximum height.
    func screenshot(maximumHeight: Int = 20_000) async throws -> Data {
        let size = try await execute("const e = document.documentElement; return [innerWidth, e.scrollHeight]").array
        let clip: JSONValue = [
            "x": 0, "y": 0, "width": size?.first ?? 0,
            "height": .number(min(size?.last?.number ?? 0, Double(maximumHeight))), "scale": 1,
        ]
        let options: JSONValue = ["format": "png", "captureBeyondViewport": true, "clip": clip]
        let encoded = try await developerTools("Page.captureScreenshot", options)["data"]?.string
        guard let picture = encoded.flatMap({ Data(base64Encoded: $0) }) else {
            throw WebDriverError.notUnderstood("screenshot")
        }
        return picture
    }

    /// Returns the URLs that were requested since the last call, in order.
    func requestedURLs() async throws -> [String] {
        let entries = try await session.send(.POST, "/se/log", ["type": "performance"]).array ?? []
        return try entries.compactMap { entry in
            guard let text = entry["message"]?.string else { return nil }
            let message = try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))["message"]
            guard message?["method"] == "Network.requestWillBeSent" else { return nil }
            return message?["params"]?["request"]?["url"]?.string
        }
    }

    /// Returns the console messages since the last call, including violations of the security policy.
    func consoleMessages() async throws -> [String] {
        let entries = try await session.send(.POST, "/se/log", ["type": "browser"]).array ?? []
        return entries.compactMap { $0["message"]?.string }
    }
}

// MARK: - Device emulation

extension Browser {
    /// Sets the size of the window, in CSS pixels.
    func setWindow(width: Int, height: Int) async throws {
        let rectangle: JSONValue = ["width": .number(Double(width)), "height": .number(Double(height))]
        _ = try await session.send(.POST, "/window/rect", rectangle)
    }

    /// Emulates the user's preferences for the colour scheme and for reduced motion.
    func emulate(_ scheme: ColorScheme, reducedMotion: Bool = false) async throws {
        let features: JSONValue = [
            ["name": "prefers-color-scheme", "value": .string(scheme.rawValue)],
            ["name": "prefers-reduced-motion", "value": reducedMotion ? "reduce" : "no-preference"],
        ]
        _ = try await developerTools("Emulation.setEmulatedMedia", ["features": features])
    }

    /// Emulates a screen, with its size in CSS pixels; `mobile` emulates a phone.
    ///
    /// - Parameter scale: device pixels per CSS pixel; the default is two on a phone and one elsewhere.
    func emulateScreen(width: Int, height: Int, mobile: Bool = false, scale: Int? = nil) async throws {
        let metrics: JSONValue = [
            "width": .number(Double(width)), "height": .number(Double(height)),
            "deviceScaleFactor": .number(Double(scale ?? (mobile ? 2 : 1))), "mobile": .bool(mobile),
        ]
        _ = try await developerTools("Emulation.setDeviceMetricsOverride", metrics)
    }

    /// Lets the page keep the focus while another window has it, such as the browser's own dialog.
    func emulateFocus() async throws {
        _ = try await developerTools("Emulation.setFocusEmulationEnabled", ["enabled": true])
    }

    /// Sends a command of the Chrome DevTools Protocol.
    func developerTools(_ command: String, _ parameters: JSONValue = [:]) async throws -> JSONValue {
        try await session.send(.POST, "/goog/cdp/execute", ["cmd": .string(command), "params": parameters])
    }
}
