import CounterfoilServer
import CounterfoilStore
import Testing

@testable import CounterfoilPages

@Suite struct AccentSchemeTests {
    /// Colours on a grid over the RGB cube, with its corners and edges.
    private static let grid = stride(from: 0, through: 255, by: 51).flatMap { red in
        stride(from: 0, through: 255, by: 51).flatMap { green in
            stride(from: 0, through: 255, by: 51).map { blue in
                AccentColor(channels: (UInt8(red), UInt8(green), UInt8(blue)))
            }
        }
    }

    // WCAG 2.2, 1.4.3: 4.5 : 1 for text of any size, for every colour that the owner can choose.
    @Test func `links and buttons are readable in any accent colour, in light and dark mode`() {
        for color in Self.grid {
            let scheme = AccentScheme(color)
            for (shades, grounds) in [
                (scheme.light, AccentScheme.lightGrounds), (scheme.dark, AccentScheme.darkGrounds),
            ] {
                for ground in grounds {
                    #expect(shades.accent.contrast(to: ground) >= 4.5, "a link of \(color) on \(ground)")
                }
                #expect(shades.ink.contrast(to: shades.accent) >= 4.5, "a button of \(color)")
                #expect(shades.ink.contrast(to: shades.strong) >= 4.5, "a button of \(color) under the pointer")
                #expect(shades.tintInk.contrast(to: shades.tint) >= 4.5, "a mark of \(color)")
                #expect(shades.accent != shades.strong, "\(color)")
            }
        }
    }

    @Test(arguments: ["#2352c5", "#b4005a", "#00600f"])
    func `a readable colour stays unchanged`(text: String) throws {
        let color = try #require(AccentColor(text))
        #expect(AccentScheme(color).light.accent == color)
    }

    @Test func `a colour that is adjusted keeps its hue`() throws {
        let yellow = AccentScheme(try #require(AccentColor("#ffd400")))
        let (red, green, blue) = yellow.light.accent.channels
        #expect(red > green && green > blue)
        #expect(yellow.dark.accent == AccentColor("#ffd400"))
    }

    @Test(arguments: [("#ffffff", "#000000", 21.0), ("#777777", "#ffffff", 4.48), ("#2352c5", "#2352c5", 1.0)])
    func `the contrast is that of WCAG`(one: String, two: String, ratio: Double) throws {
        let contrast = try #require(AccentColor(one)).contrast(to: #require(AccentColor(two)))
        #expect(abs(contrast - ratio) < 0.01)
    }

    @Test(arguments: ["#000000", "#0102ff", "#ffffff", "#2352c5"])
    func `a colour has three components`(text: String) throws {
        let color = try #require(AccentColor(text))
        #expect(AccentColor(channels: color.channels) == color)
    }
}
