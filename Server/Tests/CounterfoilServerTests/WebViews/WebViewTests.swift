import CounterfoilServer
import CounterfoilStore
import Testing

struct WebViewTests {
    private static let iPhone =
        "Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)"
    private static let oldIPhone =
        "Mozilla/5.0 (iPhone; CPU iPhone OS 16_7_2 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)"
    private static let androidView =
        "Mozilla/5.0 (Linux; Android 14; Pixel 8 Build/UQ1A.240205.002; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/122.0.6261.64 Mobile Safari/537.36"
    private static let desktop =
        "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0 Safari/537.36"
    private static let androidChrome =
        "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36"

    // RFC 8252 §8.12
    @Test(arguments: [
        (androidView, WebView.Platform.android),
        ("\(androidView) [FB_IAB/FB4A;FBAV/454.0.0.38.107;]", .android),
        (
            "\(androidView) Instagram 321.0.0.39.106 Android (34/14; 420dpi; 1080x2205; Google/google; Pixel 8)",
            .android
        ),
        ("\(androidView) Snapchat/12.78.0.32 (Pixel 8; Android 14#11220912#34; gzip; )", .android),
        ("\(androidView) musical_ly_2023303040 JsSdk/1.0 NetType/WIFI BytedanceWebview/d8a21c6", .android),
        ("\(androidView) GSA/15.8.39.28.arm64", .android),
        (
            "Mozilla/5.0 (Linux; Android 13; SM-S901B) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/113.0.5672.162 Mobile Safari/537.36 MicroMessenger/8.0.37.2380(0x28002539) WeChat/arm64",
            .android
        ),
        (
            "Mozilla/5.0 (Linux; Android 12; SM-G991N) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/120.0 Mobile Safari/537.36;KAKAOTALK 2410350",
            .android
        ),
        (
            "Mozilla/5.0 (Linux; Android 11; M2) AppleWebKit/537.36 Chrome/90.0 Mobile Safari/537.36 Line/11.1.2/IAB",
            .android
        ),
        (
            "Mozilla/5.0 (Linux; Android 9) AppleWebKit/537.36 Chrome/90.0 Mobile Safari/537.36 [Pinterest/Android]",
            .android
        ),
        ("\(iPhone) Mobile/15E148", .apple(opensSafari: true)),
        ("\(oldIPhone) Mobile/15E148", .apple(opensSafari: false)),
        (
            "\(iPhone) Mobile/21E219 [FBAN/FBIOS;FBAV/454.0.0.43.107;FBBV/572;FBDV/iPhone14,5;FBMD/iPhone;FBSN/iOS;FBSV/17.4]",
            .apple(opensSafari: true)
        ),
        (
            "\(iPhone) Mobile/21E219 Instagram 321.1.3.26.108 (iPhone14,5; iOS 17_4; en_US; scale=3.00)",
            .apple(opensSafari: true)
        ),
        ("\(iPhone) Mobile/21E219 Safari Line/14.3.0", .apple(opensSafari: true)),
        ("\(iPhone) Version/17.4 Mobile/15E148 Safari/604.1 [LinkedInApp]/9.29.1238", .apple(opensSafari: true)),
        ("\(iPhone) Mobile/15E148 Twitter for iPhone/10.29", .apple(opensSafari: true)),
        ("\(iPhone) Mobile/15E148 [Pinterest/iOS]", .apple(opensSafari: true)),
        (
            "\(oldIPhone) Mobile/15E148 MicroMessenger/8.0.44(0x18002c2d) NetType/WIFI Language/en",
            .apple(opensSafari: false)
        ),
        (
            "Mozilla/5.0 (iPad; CPU OS 17_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148",
            .apple(opensSafari: true)
        ),
        (
            "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148",
            .apple(opensSafari: false)
        ),
        (
            "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/107.0 Safari/537.36 MicroMessenger/7.0.20.1781(0x6700143B)",
            .other
        ),
        // Electron, also in Teams and on macOS; Qt WebEngine; JavaFX; the web view of UWP; the WebBrowser control
        (
            "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Lightbox/1.0 Chrome/120.0 Electron/28.1.0 Safari/537.36",
            .other
        ),
        (
            "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Teams/1.6.00.4472 Chrome/102.0 Electron/19.1.8 Safari/537.36",
            .other
        ),
        (
            "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0 Electron/28.1.0 Safari/537.36",
            .apple(opensSafari: false)
        ),
        (
            "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) QtWebEngine/5.15.2 Chrome/83.0 Safari/537.36",
            .other
        ),
        (
            "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/615.1 (KHTML, like Gecko) JavaFX/20 Safari/615.1",
            .other
        ),
        (
            "Mozilla/5.0 (Windows NT 10.0; Win64; x64; WebView/3.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/70.0 Safari/537.36 Edge/18.19045",
            .other
        ),
        (
            "Mozilla/4.0 (compatible; MSIE 7.0; Windows NT 10.0; Win64; x64; Trident/7.0; .NET4.0C; .NET4.0E; Microsoft Outlook 16.0)",
            .other
        ),
    ])
    func `a web view is recognized`(userAgent: String, platform: WebView.Platform) {
        #expect(WebView(userAgent: userAgent)?.platform == platform)
    }

    // A URL in a tab of the system is the browser itself.
    @Test(arguments: [
        desktop, androidChrome,
        // Chrome, also headless, and on a Chromebook
        "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36",
        "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36",
        "Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36",
        "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/142.0.0.0 Safari/537.36",
        "\(iPhone) CriOS/122.0.6261.89 Mobile/15E148 Safari/604.1",
        "\(iPhone) CriOS/122.0.6261.89 Mobile/15E148",
        // Safari, SFSafariViewController and ASWebAuthenticationSession
        "\(iPhone) Version/17.4 Mobile/15E148 Safari/604.1",
        "Mozilla/5.0 (iPad; CPU OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Mobile/15E148 Safari/604.1",
        "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Safari/605.1.15",
        // Firefox
        "Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0",
        "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:144.0) Gecko/20100101 Firefox/144.0",
        "Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:144.0) Gecko/20100101 Firefox/144.0",
        "Mozilla/5.0 (Android 14; Mobile; rv:144.0) Gecko/144.0 Firefox/144.0",
        "\(iPhone) FxiOS/123.0 Mobile/15E148 Safari/605.1.15",
        "Mozilla/5.0 (Linux; Android 7.0; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Focus/1.1 Chrome/59.0 Mobile Safari/537.36",
        // Edge
        "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0",
        "Mozilla/5.0 (Linux; Android 10; HD1913) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36 EdgA/142.0.0.0",
        "\(iPhone) Version/17.0 EdgiOS/122.0.2365.56 Mobile/15E148 Safari/604.1",
        // Samsung, Opera, Vivaldi, Brave, Yandex
        "Mozilla/5.0 (Linux; Android 14; SAMSUNG SM-S918B) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/24.0 Chrome/117.0.0.0 Mobile Safari/537.36",
        "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36 OPR/125.0.0.0",
        "Mozilla/5.0 (Linux; Android 10; VOG-L29) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36 OPR/93.0.0.0",
        "\(iPhone) Version/17.4 Mobile/15E148 Safari/604.1 OPT/4.6.0",
        "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36 Vivaldi/7.6.3797.63",
        "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36 Brave/142",
        "Mozilla/5.0 (Linux; arm_64; Android 13; SM-G965F) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0 YaBrowser/23.11 Mobile Safari/537.36",
        // Browsers that use the system's web view
        "Mozilla/5.0 (Linux; Android 13; Pixel 6) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/113.0 Mobile DuckDuckGo/5 Safari/537.36",
        "\(iPhone) Mobile/15E148 DuckDuckGo/7",
        "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Safari/605.1.15 Ddg/17.4",
        "Mozilla/5.0 (Linux; U; Android 13; en-us; M2101K7AG) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/112.0 Mobile Safari/537.36 XiaoMi/MiuiBrowser/14.4",
        "Mozilla/5.0 (Linux; U; Android 12; en-US; RMX3430) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/100.0 UCBrowser/13.5 Mobile Safari/537.36",
        "\(iPhone) GSA/305.0.612 Mobile/15E148 Safari/604.1",
        // Other browsers, and programs that are no browser
        "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Safari/605.1.15 Epiphany/605.1.15",
        "Mozilla/5.0 (Windows NT 10.0; WOW64; Trident/7.0; rv:11.0) like Gecko",
        // Internet Explorer 11 and the IE mode of Edge, which differ from the WebBrowser control; Edge before Chromium
        "Mozilla/5.0 (Windows NT 10.0; Win64; x64; Trident/7.0; .NET4.0C; .NET4.0E; rv:11.0) like Gecko",
        "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/70.0 Safari/537.36 Edge/18.19045",
        "Mozilla/4.0 (compatible; MSIE 6.0; Windows NT 5.1; en) Opera 8.54",
        // Browsers with Qt WebEngine
        "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Falkon/24.08 QtWebEngine/6.7 Chrome/118.0 Safari/537.36",
        "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Konqueror (WebEnginePart) QtWebEngine/6.7 Chrome/118.0 Safari/537.36",
        // WebView2 and WebKitGTK cannot be told from Edge and Epiphany.
        "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Safari/605.1.15",
        "curl/8.5.0", "Wget/1.21.4", "python-requests/2.31.0", "Lynx/2.9.0dev.12 libwww-FM/2.14", "okhttp/4.12.0",
        "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", "Offline/1 Online/2",
        "Twitterbot/1.0",
    ])
    func `a browser is not taken for a web view`(userAgent: String) {
        #expect(WebView(userAgent: userAgent) == nil)
    }

    // Android's web view may claim to be Chrome, and still names the app around it.
    @Test(arguments: [
        ("com.facebook.katana", true), ("no.example.photos_app", true), ("XMLHttpRequest", false), ("", false),
        ("com.android.chrome", false), ("com.android.browser", false), ("com.duckduckgo.mobile.android", false),
        ("com.brave.browser", false), ("..", false), ("com.", false), ("com.<b>", false), ("1.2", false),
        (String(repeating: "a.", count: 10_000) + "a", false),
    ])
    func `a web view on Android is detected by the app that it names`(requestedWith: String, isWebView: Bool) {
        let found = WebView(userAgent: Self.androidChrome, requestedWith: requestedWith)
        #expect((found != nil) == isWebView)
        #expect(WebView(userAgent: Self.desktop, requestedWith: requestedWith) == nil)
    }

    @Test(arguments: [
        nil, "", " ", "wv", ";;;;((((", "\u{0}\u{202E}wv", "Mozilla/5.0", String(repeating: "(", count: 1_000_000),
        String(repeating: "Android; ", count: 100_000) + "wv", String(repeating: "é", count: 3000),
        "Mozilla/5.0 (iPhone; CPU iPhone OS",
    ])
    func `a missing, huge or malformed field is no web view`(userAgent: String?) {
        #expect(WebView(userAgent: userAgent) == nil)
    }

    // The link to the browser.
    @Test(arguments: [
        (
            androidView, "https://id.example/oauth2/authorize?a=b&c=d%20e",
            "intent://id.example/oauth2/authorize?a=b&c=d%20e#Intent;scheme=https;action=android.intent.action.VIEW;end"
        ),
        (
            androidView, "http://127.0.0.1:8080/sign-in",
            "intent://127.0.0.1:8080/sign-in#Intent;scheme=http;action=android.intent.action.VIEW;end"
        ),
        ("\(iPhone) Mobile/15E148", "https://id.example/account", "x-safari-https://id.example/account"),
        ("\(oldIPhone) Mobile/15E148", "https://id.example/account", "https://id.example/account"),
        ("Chrome/107.0 Safari/537.36 MicroMessenger/7.0", "https://id.example/account", "https://id.example/account"),
        (
            androidView, "https://id.example/#Intent;component=evil/.x;end",
            "https://id.example/#Intent;component=evil/.x;end"
        ),
        (androidView, "javascript:alert(1)", "javascript:alert(1)"),
    ])
    func `a page can be opened in the browser`(userAgent: String, url: String, address: String) throws {
        #expect(try #require(WebView(userAgent: userAgent)).openInBrowserURL(for: url) == address)
    }
}
