/// What a test makes the browser pretend, beyond its screen.
extension Browser {
    /// Switches the scripts of pages off or on, as a setting of the browser does.
    func allowScripts(_ allowed: Bool) async throws {
        _ = try await developerTools("Emulation.setScriptExecutionDisabled", ["value": .bool(!allowed)])
    }

    /// Calls itself something else in `User-Agent`, as a web-view does.
    func introduce(as userAgent: String) async throws {
        _ = try await developerTools("Emulation.setUserAgentOverride", ["userAgent": .string(userAgent)])
    }

    /// Asks for pages in these languages.
    func prefer(languages: String) async throws {
        _ = try await developerTools(
            "Network.setExtraHTTPHeaders", ["headers": ["Accept-Language": .string(languages)]])
    }

    /// Keeps nothing that it has loaded, so that each page loads everything anew.
    func keepNothingLoaded() async throws {
        _ = try await developerTools("Network.setCacheDisabled", ["cacheDisabled": true])
    }

    /// Lets the pages of a site write to the clipboard, as a person would on being asked.
    func allowClipboard(_ origin: String) async throws {
        let permissions: JSONValue = ["clipboardReadWrite", "clipboardSanitizedWrite"]
        _ = try await developerTools(
            "Browser.grantPermissions", ["origin": .string(origin), "permissions": permissions])
    }

    /// Forgets who was here and everything that it was made to pretend.
    func forget() async throws {
        _ = try await developerTools("Network.clearBrowserCookies")
        _ = try await developerTools("Network.setCacheDisabled", ["cacheDisabled": false])
        _ = try await developerTools("Network.setExtraHTTPHeaders", ["headers": [:]])
        _ = try await developerTools("Emulation.setUserAgentOverride", ["userAgent": ""])
        _ = try await developerTools("Emulation.setScriptExecutionDisabled", ["value": false])
        _ = try await developerTools("Emulation.setEmulatedMedia", ["features": []])
        _ = try await developerTools("Emulation.clearDeviceMetricsOverride")
        try await navigate(to: "about:blank")
        _ = try await requestedURLs()
        _ = try await consoleMessages()
    }
}
