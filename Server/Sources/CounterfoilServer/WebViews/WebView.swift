import CounterfoilProtocol

/// An embedded user agent, in which the surrounding app could read what the user types (RFC 8252 §8.12).
///
/// A web-view is recognized by the header fields that it sends. An app can change these fields, so detection is
/// not a security boundary. The following count as web-views:
///
/// - Android's web-view.
/// - On Apple's systems, a user agent with `AppleWebKit` but without `Safari`.
/// - The in-app browsers of large social apps.
/// - The frameworks for desktop apps that name themselves: Electron, Qt WebEngine, JavaFX, the web-view of the
///   Universal Windows Platform, and the WebBrowser control of Windows, which Office plug-ins use. The control names
///   `MSIE` beside a newer `Trident`; Internet Explorer 11 and the IE mode of Edge do not.
///
/// WebView2 of Windows and WebKitGTK of Linux send the fields of a browser, so they cannot be recognized.
///
/// In-app browser tabs of the system (Custom Tabs, `ASWebAuthenticationSession`) send the fields of the browser
/// and are not web-views. A web page on the home screen of an iPhone cannot be distinguished from a web-view and
/// counts as one. Google's search app counts as a browser, because many people use it as a browser. It counts as a
/// web-view only if its `User-Agent` names Android's web-view.
package struct WebView: Sendable, Hashable {
    /// The operating system, which determines the URL that opens the browser from the web-view.
    package enum Platform: Sendable, Hashable {
        /// Android, on which an `intent:` URL opens the browser.
        case android
        /// An Apple system; `opensSafari` is true for iOS and iPadOS 17 and later, where `x-safari-https` opens Safari.
        case apple(opensSafari: Bool)
        /// Any other system, on which no URL opens the browser.
        case other
    }

    package let platform: Platform

    /// Recognizes a web-view by the header fields of a request; nil for any other user agent.
    ///
    /// - Parameters:
    ///   - userAgent: The value of the field `User-Agent`.
    ///   - requestedWith: The value of `X-Requested-With`, in which Android's web-view names the surrounding app.
    package init?(userAgent: String?, requestedWith: String? = nil) {
        let agent = UserAgent(userAgent ?? "")
        let isAndroid = agent.says("Android")
        let isApple = agent.says("iPhone", "iPad", "iPod", "Macintosh")
        guard
            Self.isInSocialApplication(agent)
                || !agent.says(anyOf: Self.browsers)
                    && (isAndroid && (agent.says("wv") || Self.isApplication(requestedWith))
                        || isApple && agent.says("AppleWebKit") && !agent.says("Safari")
                        || agent.says(anyOf: Self.desktopFrameworks) || agent.says("MSIE") && agent.says("Trident"))
        else { return nil }
        if isAndroid {
            platform = .android
        } else if isApple {
            platform = .apple(opensSafari: (agent.appleMobileVersion ?? 0) >= 17)
        } else {
            platform = .other
        }
    }

    /// Returns the URL that makes the web-view open a page of this server in the browser.
    ///
    /// The result is `url` itself if the platform has no such URL, or if `url` is not suitable.
    ///
    /// - Parameter url: The page, as an absolute http or https URL without a fragment.
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

    /// The words of `User-Agent` fields that identify the in-app browsers of social apps.
    private static let socialApplications: Set<String> = [
        "FBAN", "FBAV", "FB_IAB", "Instagram", "Barcelona", "Line", "MicroMessenger", "Twitter", "TwitterAndroid",
        "Snapchat", "Pinterest", "LinkedInApp", "BytedanceWebview", "TikTok", "trill", "KAKAOTALK",
    ]

    /// The words of `User-Agent` fields that identify the web-views of frameworks for desktop apps.
    private static let desktopFrameworks: Set<String> = ["Electron", "QtWebEngine", "JavaFX", "WebView"]

    /// The words of `User-Agent` fields that identify browsers.
    ///
    /// Without this list, these browsers could be mistaken for web-views. They use the web-view of the system or of a
    /// framework, or they may omit `Safari` on Apple's systems.
    private static let browsers: Set<String> = [
        "CriOS", "FxiOS", "EdgiOS", "OPT", "OPiOS", "OPX", "DuckDuckGo", "Ddg", "Focus", "Klar", "Brave", "Vivaldi",
        "YaBrowser", "Ecosia", "EdgA", "OPR", "SamsungBrowser", "MiuiBrowser", "UCBrowser", "HeyTapBrowser",
        "VivoBrowser", "HuaweiBrowser", "Falkon", "Konqueror", "Otter", "Dooble", "Angelfish", "qutebrowser",
    ]

    /// Returns true if the value of `X-Requested-With` is the package name of an Android app that is not a browser.
    ///
    /// Scripts send the same field with the value `XMLHttpRequest`, which is not a package name.
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

    /// The package names of Android browsers, except names with a part `browser`, which always count as browsers.
    private static let browserPackages: Set<String> = [
        "com.android.chrome", "com.chrome.beta", "com.chrome.dev", "com.chrome.canary", "org.chromium.chrome",
        "org.mozilla.firefox", "org.mozilla.fenix", "org.mozilla.focus", "org.mozilla.klar", "com.microsoft.emmx",
        "com.sec.android.app.sbrowser", "com.duckduckgo.mobile.android", "com.opera.mini.native", "com.opera.gx",
        "com.ecosia.android", "com.mi.globalbrowser", "com.UCMobile.intl", "mark.via.gp",
        "org.lineageos.jelly", "com.google.android.googlequicksearchbox",
    ]
}
