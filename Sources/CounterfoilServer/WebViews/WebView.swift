import CounterfoilProtocol

/// An embedded user agent, in which an app could read what the user types (RFC 8252 §8.12).
///
/// It is recognized by its own header fields, so an app can hide it: detection is not a security boundary.
/// Recognized are the web-view of Android, WebKit on Apple's systems without the name Safari, and the in-app
/// browsers of large social apps. A browser tab of the system (Custom Tabs, `ASWebAuthenticationSession`) sends
/// the fields of the browser and is not a web-view. A web page on the home screen of an iPhone cannot be
/// distinguished from a web-view. Google's search app counts as a browser, because many people use it as one,
/// unless it shows Android's web-view.
package struct WebView: Sendable, Hashable {
    /// The operating system, as far as the link to the browser depends on it.
    package enum Platform: Sendable, Hashable {
        /// Android, on which an intent opens the browser.
        case android
        /// An Apple system; on iOS and iPadOS, a URL scheme opens Safari since version 17.
        case apple(opensSafari: Bool)
        /// Any other system.
        case other
    }

    /// The operating system.
    package let platform: Platform

    /// Recognizes a web-view; returns nil for other user agents and for empty fields.
    ///
    /// - Parameters:
    ///   - userAgent: the field `User-Agent`.
    ///   - requestedWith: the field `X-Requested-With`, in which Android's web-view names the app around it.
    package init?(userAgent: String?, requestedWith: String? = nil) {
        let agent = UserAgent(userAgent ?? "")
        let isAndroid = agent.says("Android")
        let isApple = agent.says("iPhone", "iPad", "iPod", "Macintosh")
        guard
            Self.isInSocialApplication(agent)
                || !agent.says(anyOf: Self.browsers)
                    && (isAndroid && (agent.says("wv") || Self.isApplication(requestedWith))
                        || isApple && agent.says("AppleWebKit") && !agent.says("Safari"))
        else { return nil }
        if isAndroid {
            platform = .android
        } else if isApple {
            platform = .apple(opensSafari: (agent.appleMobileVersion ?? 0) >= 17)
        } else {
            platform = .other
        }
    }

    /// The URL that opens a page of this server in the browser from inside the web-view.
    ///
    /// - Parameter url: an absolute http or https URL without a fragment; any other is returned unchanged.
    package func openInBrowserURL(for url: String) -> String {
        guard let uri = try? AbsoluteURI(parsing: url), uri.hasAuthority, uri.fragment == nil,
            uri.scheme == "https" || uri.scheme == "http"
        else { return url }
        switch platform {
        case .android:
            let rest = url.dropFirst(uri.scheme.utf8.count)
            return "intent\(rest)#Intent;scheme=\(uri.scheme);action=android.intent.action.VIEW;end"
        case .apple(opensSafari: true): return "x-safari-\(url)"
        case .apple(opensSafari: false), .other: return url
        }
    }

    private static func isInSocialApplication(_ agent: UserAgent) -> Bool {
        agent.says(anyOf: socialApplications) || agent.words.contains { $0.hasPrefix("musical_ly") }
    }

    /// The product tokens of in-app browsers.
    private static let socialApplications: Set<String> = [
        "FBAN", "FBAV", "FB_IAB", "Instagram", "Barcelona", "Line", "MicroMessenger", "Twitter", "TwitterAndroid",
        "Snapchat", "Pinterest", "LinkedInApp", "BytedanceWebview", "TikTok", "trill", "KAKAOTALK",
    ]

    /// Browsers that use the system's web-view, or may omit `Safari` on Apple's systems.
    private static let browsers: Set<String> = [
        "CriOS", "FxiOS", "EdgiOS", "OPT", "OPiOS", "OPX", "DuckDuckGo", "Ddg", "Focus", "Klar", "Brave", "Vivaldi",
        "YaBrowser", "Ecosia", "EdgA", "OPR", "SamsungBrowser", "MiuiBrowser", "UCBrowser", "HeyTapBrowser",
        "VivoBrowser", "HuaweiBrowser",
    ]

    /// Returns true if a field names an Android app that is not a browser; scripts send `XMLHttpRequest`.
    private static func isApplication(_ requestedWith: String?) -> Bool {
        guard let name = requestedWith, (3...256).contains(name.utf8.count), !browserPackages.contains(name) else {
            return false
        }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count >= 2 && !parts.contains { $0 == "browser" }
            && parts.allSatisfy { part in
                part.first?.isLetter == true
                    && part.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
            }
    }

    /// The packages of browsers that do not have `browser` as a part of their name.
    private static let browserPackages: Set<String> = [
        "com.android.chrome", "com.chrome.beta", "com.chrome.dev", "com.chrome.canary", "org.chromium.chrome",
        "org.mozilla.firefox", "org.mozilla.fenix", "org.mozilla.focus", "org.mozilla.klar", "com.microsoft.emmx",
        "com.sec.android.app.sbrowser", "com.duckduckgo.mobile.android", "com.opera.mini.native", "com.opera.gx",
        "com.ecosia.android", "com.mi.globalbrowser", "com.UCMobile.intl", "mark.via.gp",
        "org.lineageos.jelly", "com.google.android.googlequicksearchbox",
    ]
}
