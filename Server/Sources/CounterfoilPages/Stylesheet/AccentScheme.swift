import CounterfoilStore

/// The colours of the pages that are derived from the owner's accent colour, for light and dark mode.
///
/// Text has a contrast of at least 4.5 : 1 to its background (WCAG 1.4.3). Where the owner's colour has this
/// contrast, it is used unchanged. Where it does not, its lightness is changed until it does. The hue always
/// stays the same.
struct AccentScheme: Sendable, Hashable {
    let light: Shades
    let dark: Shades

    /// The colours of one mode, light or dark.
    struct Shades: Sendable, Hashable {
        /// The colour of links, and the background of the main button.
        let accent: AccentColor
        /// The background of the main button while the pointer is over it.
        let strong: AccentColor
        /// The colour of the text on the main button, on ``accent`` and ``strong``.
        let ink: AccentColor
        /// The background of marks and badges.
        let tint: AccentColor
        /// The colour of text and icons on ``tint``.
        let tintInk: AccentColor
    }

    /// The minimum contrast of text to its background (WCAG 1.4.3).
    static let leastContrast = 4.5
    /// The backgrounds of links in light mode: the values of `--paper`, `--wash` and `--ground` in the stylesheet.
    static let lightGrounds = [(255, 255, 255), (244, 246, 250), (236, 239, 245)].map(
        AccentColor.init(channels:))
    /// The backgrounds of links in dark mode: the dark values of `--paper`, `--wash` and `--ground` in the stylesheet.
    static let darkGrounds = [(26, 29, 37), (35, 39, 50), (14, 16, 21)].map(AccentColor.init(channels:))

    /// Derives the colours of both modes from the owner's colour.
    init(_ color: AccentColor) {
        let hue = OKLab(color)
        let white = AccentColor(channels: (255, 255, 255))
        let lightAccent = Self.readable(color, on: Self.lightGrounds, by: -1)
        let lightTint = hue.with(lightness: 0.945, chroma: 0.035).color
        light = Shades(
            accent: lightAccent,
            strong: Self.shifted(lightAccent, by: OKLab(lightAccent).lightness > 0.3 ? -0.08 : 0.2),
            ink: white,
            tint: lightTint,
            tintInk: Self.readable(hue.with(lightness: 0.44, chroma: 0.16).color, on: [lightTint], by: -1)
        )
        let darkAccent = Self.readable(color, on: Self.darkGrounds, by: 1)
        let darkTint = hue.with(lightness: 0.31, chroma: 0.05).color
        dark = Shades(
            accent: darkAccent,
            strong: Self.shifted(darkAccent, by: OKLab(darkAccent).lightness < 0.93 ? 0.06 : -0.08),
            ink: hue.with(lightness: 0.2, chroma: 0.05).color,
            tint: darkTint,
            tintInk: Self.readable(hue.with(lightness: 0.82, chroma: 0.1).color, on: [darkTint], by: 1)
        )
    }

    /// Changes the lightness of a colour until its contrast to every given background suffices.
    ///
    /// - Parameters:
    ///   - color: The colour to change.
    ///   - grounds: The backgrounds.
    ///   - direction: 1 to lighten the colour, -1 to darken it.
    private static func readable(_ color: AccentColor, on grounds: [AccentColor], by direction: Double) -> AccentColor {
        var shade = color
        var lab = OKLab(color)
        // At the latest, the loop ends at black or white, which contrasts enough with these backgrounds.
        while !grounds.allSatisfy({ shade.contrast(to: $0) >= leastContrast }), (0...1).contains(lab.lightness) {
            lab.lightness += 0.005 * direction
            shade = lab.color
        }
        return shade
    }

    private static func shifted(_ color: AccentColor, by step: Double) -> AccentColor {
        var lab = OKLab(color)
        lab.lightness += step
        return lab.color
    }
}

extension AccentColor {
    /// Computes the contrast to another colour, from 1 to 21 (WCAG 2.2, "contrast ratio").
    func contrast(to other: AccentColor) -> Double {
        let (one, two) = (luminance, other.luminance)
        return (max(one, two) + 0.05) / (min(one, two) + 0.05)
    }

    private var luminance: Double {
        let (red, green, blue) = linear
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue
    }
}
