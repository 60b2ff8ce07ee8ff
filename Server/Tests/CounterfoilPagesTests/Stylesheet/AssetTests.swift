import CounterfoilServer
import CounterfoilStore
import Testing

@testable import CounterfoilPages

@Suite struct AssetTests {
    private static let orange = AccentColor("#d9480f")

    private static func text(_ asset: Asset) -> String { String(decoding: asset.bytes, as: UTF8.self) }

    @Test func `the stylesheet is small and has no comments`() {
        let css = Self.text(.stylesheet)
        #expect(css.utf8.count <= 17 * 1024)
        #expect(!css.contains("/*"))
        #expect(!css.contains("\n"))
        #expect(css.contains(#""Segoe UI""#))
        #expect(css.contains(#"content:attr(data-label) ": ""#))
        #expect(css.count { $0 == "{" } == css.count { $0 == "}" })
    }

    // No third-party resources.
    @Test(arguments: Asset.all)
    func `no asset loads anything from another site`(asset: Asset) {
        for foreign in ["http:", "https:", "url(", "@import", "import("] {
            #expect(!Self.text(asset).contains(foreign), "\(asset.path)")
        }
    }

    @Test func `the accent colour is in the one stylesheet, at a URL of its own`() throws {
        let branded = Asset.stylesheet(accent: Self.orange)
        #expect(branded.path != Asset.stylesheet.path)
        #expect(branded.bytes.starts(with: Asset.stylesheet.bytes))
        let scheme = AccentScheme(try #require(Self.orange))
        for shade in [scheme.light.accent, scheme.light.strong, scheme.dark.accent, scheme.dark.ink] {
            #expect(Self.text(branded).contains("\(shade)"))
        }
        #expect(Asset.stylesheet(accent: nil) == .stylesheet)
    }

    // A page that was rendered just before the owner changed the colour still finds its stylesheet, in
    // every process.
    @Test func `a stylesheet URL works for any colour`() {
        for accent in [nil, Self.orange, AccentColor("#00ff00"), AccentColor("#123456")] {
            let asset = Asset.stylesheet(accent: accent)
            #expect(Asset.named(asset.path) == asset)
        }
        #expect(Asset.named(Asset.script.path) == .script)
    }

    @Test(arguments: [
        "", "/", "/assets/", "/assets/counterfoil.css", "/assets/counterfoil-d9480f-0000000000000000.css",
        "/assets/counterfoil-D9480F-0000000000000000.css", "/assets/counterfoil-red-0000000000000000.css",
        "/assets/../counterfoil.css", "/assets/console-0000000000000000.js", "/assets/counterfoil-d9480f-.css",
    ])
    func `any other URL is not found`(path: String) {
        #expect(Asset.named(path) == nil)
    }

    @Test func `a URL has one spelling of a colour only`() throws {
        let path = Asset.stylesheet(accent: Self.orange).path
        #expect(Asset.named(path.replacing("d9480f", with: "D9480F")) == nil)
        #expect(Asset.named(path.replacing("d9480f", with: "#d9480f")) == nil)
    }

    @Test func `many colours are served and few are cached`() {
        for number in 0..<100 {
            let accent = AccentColor(channels: (UInt8(number), 0, 0))
            #expect(Asset.named(Asset.stylesheet(accent: accent).path) != nil)
        }
    }

    @Test func `colours in requests do not evict those of pages`() throws {
        let (stylesheets, orange) = (BrandedStylesheets(), try #require(Self.orange))
        let own = stylesheets.asset(of: orange)
        for number in 0..<100 {
            let accent = AccentColor(channels: (UInt8(number), 0, 0))
            #expect(stylesheets.asset(named: accent).bytes.count > own.bytes.count / 2)
        }
        #expect(stylesheets.colors == [orange])
        #expect(stylesheets.asset(named: orange) == own)
    }

    @Test func `the icon costs no request and has the accent colour`() {
        #expect(Asset.icon.hasPrefix("data:image/svg+xml,%3Csvg"))
        #expect(Asset.icon.contains("%232352c5"))
        let branded = Asset.icon(accent: Self.orange)
        #expect(branded.contains("%23d9480f"))
        #expect(!branded.contains { "\"<>#".contains($0) })
    }

    // The contrasts are proved against these backgrounds, so they must be those of the pages.
    @Test func `the backgrounds of the contrast tests are those of the stylesheet`() throws {
        let css = Self.text(.stylesheet)
        let dark = try #require(css.firstRange(of: "prefers-color-scheme:dark"))
        for (part, grounds) in [
            (css[..<dark.lowerBound], AccentScheme.lightGrounds), (css[dark.lowerBound...], AccentScheme.darkGrounds),
        ] {
            for (name, ground) in zip(["paper", "wash", "ground"], grounds) {
                let written = try #require(
                    part.firstMatch(of: try Regex("--\(name):#([0-9a-f]+)"))?.output[1].substring)
                let digits = written.count == 3 ? written.map { "\($0)\($0)" }.joined() : String(written)
                #expect(AccentColor(digits) == ground, "\(name)")
            }
        }
    }
}
