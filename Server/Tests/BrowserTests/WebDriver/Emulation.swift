/// Browser emulation other than the screen.
extension Browser {
    /// Disables or enables scripts, as a browser setting does.
    func allowScripts(_ allowed: Bool) async throws {
        _ = try await developerTools("Emulation.setScriptExecutionDisabled", ["value": .bool(!allowed)])
    }

    /// Sets the `User-Agent`, for example to that of a web view.
    func introduce(as userAgent: String) async throws {
        _ = try await developerTools("Emulation.setUserAgentOverride", ["userAgent": .string(userAgent)])
    }

    /// Sets the preferred languages of the user.
    func prefer(languages: String) async throws {
        _ = try await developerTools(
            "Network.setExtraHTTPHeaders", ["headers": ["Accept-Language": .string(languages)]])
    }

    /// Disables the cache, so each page loads all its resources again.
    func keepNothingLoaded() async throws {
        _ = try await developerTools("Network.setCacheDisabled", ["cacheDisabled": true])
    }

    /// Allows the pages of a site to write to the clipboard.
    func allowClipboard(_ origin: String) async throws {
        let permissions: JSONValue = ["clipboardReadWrite", "clipboardSanitizedWrite"]
        _ = try await developerTools(
            "Browser.grantPermissions", ["origin": .string(origin), "permissions": permissions])
    }

    /// Deletes cookies and resets the emulation.
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
