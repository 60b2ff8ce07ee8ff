import CounterfoilProtocol

/// A user agent that an application shows inside itself, where it could read what is typed (RFC 8252 §8.12).
///
/// Recognised by what it says of itself, so never a boundary: an application that wants to hide it can. What is known
/// are Android's web-view, WebKit on Apple's systems that does not call itself Safari, and the in-app browsers of large
/// social applications. A browser in a tab of the system (Custom Tabs, `ASWebAuthenticationSession`) sends what the
/// browser sends and is none. A web page that was added to the home screen of an iPhone cannot be told from one. Google's
/// search application is taken for the browser that it is to many, unless it shows Android's web-view.
public struct WebView: Sendable, Hashable {
    /// The system that it runs on, as far as the way out depends on it.
    public enum Platform: Sendable, Hashable {
        /// Android, where an intent opens the browser.
        case android
        /// An Apple system; its mobile ones have an address that opens Safari since version 17.
        case apple(opensSafari: Bool)
        /// Anything else.
        case other
    }

    /// The system.
    public let platform: Platform

    /// Recognises a web-view; nil for anything else, and for what says nothing.
    ///
    /// - Parameters:
    ///   - userAgent: the field `User-Agent`.
    ///   - requestedWith: the field `X-Requested-With`, in which Android's web-view names the application around it.
    public init?(userAgent: String?, requestedWith: String? = nil) {
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

    /// An address that opens a page of ours in the browser, from inside the web-view.
    ///
    /// - Parameter url: an absolute address over http or https without a fragment; any other comes back as it is.
    public func openInBrowserURL(for url: String) -> String {
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

    /// The words by which in-app browsers name themselves.
    private static let socialApplications: Set<String> = [
        "FBAN", "FBAV", "FB_IAB", "Instagram", "Barcelona", "Line", "MicroMessenger", "Twitter", "TwitterAndroid",
        "Snapchat", "Pinterest", "LinkedInApp", "BytedanceWebview", "TikTok", "trill", "KAKAOTALK",
    ]

    /// Browsers that show pages through the system's web-view, or on Apple's systems may leave out `Safari`.
    private static let browsers: Set<String> = [
        "CriOS", "FxiOS", "EdgiOS", "OPT", "OPiOS", "OPX", "DuckDuckGo", "Ddg", "Focus", "Klar", "Brave", "Vivaldi",
        "YaBrowser", "Ecosia", "EdgA", "OPR", "SamsungBrowser", "MiuiBrowser", "UCBrowser", "HeyTapBrowser",
        "VivoBrowser", "HuaweiBrowser",
    ]

    /// Whether a field names an application of Android that is no browser; scripts send `XMLHttpRequest`.
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

    /// Browsers by their packages, beside those with `browser` for a part of the name.
    private static let browserPackages: Set<String> = [
        "com.android.chrome", "com.chrome.beta", "com.chrome.dev", "com.chrome.canary", "org.chromium.chrome",
        "org.mozilla.firefox", "org.mozilla.fenix", "org.mozilla.focus", "org.mozilla.klar", "com.microsoft.emmx",
        "com.sec.android.app.sbrowser", "com.duckduckgo.mobile.android", "com.opera.mini.native", "com.opera.gx",
        "com.ecosia.android", "com.mi.globalbrowser", "com.UCMobile.intl", "mark.via.gp",
        "org.lineageos.jelly", "com.google.android.googlequicksearchbox",
    ]
}
