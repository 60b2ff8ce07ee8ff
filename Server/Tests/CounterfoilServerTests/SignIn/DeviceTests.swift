import CounterfoilServer
import CounterfoilStore
import Testing

struct DeviceTests {
    private static let chrome = "AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0"

    @Test(arguments: [
        ("Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0", "Firefox on Linux"),
        ("Mozilla/5.0 (X11; FreeBSD amd64; rv:144.0) Gecko/20100101 Firefox/144.0", "Firefox on FreeBSD"),
        ("Mozilla/5.0 (Android 14; Mobile; rv:144.0) Gecko/144.0 Firefox/144.0", "Firefox on Android"),
        (
            "Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Mobile/15E148 Safari/604.1",
            "Safari on iPhone"
        ),
        (
            "Mozilla/5.0 (iPad; CPU OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/122.0 Mobile/15E148 Safari/604.1",
            "Chrome on iPad"
        ),
        (
            "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Safari/605.1.15",
            "Safari on Mac"
        ),
        (
            "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) FxiOS/123.0 Mobile/15E148 Safari/605.1.15",
            "Firefox on iPad"
        ),
        ("Mozilla/5.0 (Linux; Android 10; K) \(chrome) Mobile Safari/537.36", "Chrome on Android"),
        ("Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) \(chrome) Safari/537.36", "Chrome on ChromeOS"),
        (
            "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 HeadlessChrome/142.0.0.0 Safari/537.36",
            "Chrome on Linux"
        ),
        ("Mozilla/5.0 (Windows NT 10.0; Win64; x64) \(chrome) Safari/537.36 Edg/142.0.0.0", "Edge on Windows"),
        ("Mozilla/5.0 (Windows NT 10.0; Win64; x64) \(chrome) Safari/537.36 OPR/125.0.0.0", "Opera on Windows"),
        ("Mozilla/5.0 (Windows NT 10.0; WOW64; Trident/7.0; rv:11.0) like Gecko", "Internet Explorer on Windows"),
        ("Mozilla/5.0 (Windows NT 10.0) SomethingElse/1.0", "A browser on Windows"),
        (
            "Mozilla/5.0 (Linux; Android 14; SM-S918B) SamsungBrowser/24.0 \(chrome) Mobile Safari/537.36",
            "Samsung Internet on Android"
        ),
        ("Mozilla/5.0 (Linux; Android 14; Pixel 8; wv) \(chrome) Mobile Safari/537.36", "An app on Android"),
        (
            "Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 Mobile/21E219 Instagram 3",
            "An app on iPhone"
        ),
        ("Line/14.3.0", "An app"), ("Firefox", "Firefox"), ("Updater/1.0 (Windows NT 10.0)", "A program on Windows"),
        ("curl/8.5.0", "A program"), ("", "A program"), ("<script>alert(1)</script>", "A program"),
        ("\u{202E}\u{0}", "A program"), (String(repeating: "x", count: 1_000_000), "A program"),
    ])
    func `a device has a familiar name`(userAgent: String, name: String) {
        #expect(Localizer.english(Device(userAgent: userAgent).text) == name)
    }
}
