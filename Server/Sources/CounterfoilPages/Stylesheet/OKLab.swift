import CounterfoilStore
import Foundation

/// A colour in OKLab, a perceptual colour space in which the perceived hue stays when the lightness changes.
struct OKLab {
    /// The perceived lightness: 0 for black, 1 for white.
    var lightness: Double
    private var greenToRed: Double
    private var blueToYellow: Double

    init(_ color: AccentColor) {
        let (red, green, blue) = color.linear
        let long = cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue)
        let middle = cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue)
        let short = cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue)
        lightness = 0.2104542553 * long + 0.7936177850 * middle - 0.0040720468 * short
        greenToRed = 1.9779984951 * long - 2.4285922050 * middle + 0.4505937099 * short
        blueToYellow = 0.0259040371 * long + 0.7827717662 * middle - 0.8086757660 * short
    }

    /// Returns the colour with the same hue and the given lightness; its chroma is reduced to `most` if it is higher.
    func with(lightness: Double, chroma most: Double) -> OKLab {
        let chroma = (greenToRed * greenToRed + blueToYellow * blueToYellow).squareRoot()
        var other = self
        other.lightness = lightness
        guard chroma > most else { return other }
        other.greenToRed *= most / chroma
        other.blueToYellow *= most / chroma
        return other
    }

    /// The colour in sRGB; if sRGB does not contain the colour, its chroma is reduced until it does.
    var color: AccentColor {
        let inside = 0.0...1.0
        var (least, most) = (0.0, 1.0)
        if linear(vividness: 1).allSatisfy(inside.contains) { least = 1 }
        while most - least > 0.001 {
            let middle = (least + most) / 2
            if linear(vividness: middle).allSatisfy(inside.contains) { least = middle } else { most = middle }
        }
        return AccentColor(linear: linear(vividness: least))
    }

    private func linear(vividness: Double) -> [Double] {
        let (a, b) = (greenToRed * vividness, blueToYellow * vividness)
        let light = min(max(lightness, 0), 1)
        func cube(_ value: Double) -> Double { value * value * value }
        let long = cube(light + 0.3963377774 * a + 0.2158037573 * b)
        let middle = cube(light - 0.1055613458 * a - 0.0638541728 * b)
        let short = cube(light - 0.0894841775 * a - 1.2914855480 * b)
        return [
            4.0767416621 * long - 3.3077115913 * middle + 0.2309699292 * short,
            -1.2684380046 * long + 2.6097574011 * middle - 0.3413193965 * short,
            -0.0041960863 * long - 0.7034186147 * middle + 1.7076147010 * short,
        ]
    }
}

extension AccentColor {
    /// The red, green and blue values in linear light (without the gamma encoding of sRGB), each from 0 to 1.
    var linear: (red: Double, green: Double, blue: Double) {
        func light(_ channel: UInt8) -> Double {
            let value = Double(channel) / 255
            return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
        }
        let (red, green, blue) = channels
        return (light(red), light(green), light(blue))
    }

    /// Creates the nearest colour to red, green and blue values in linear light; values outside 0 to 1 are clamped.
    fileprivate init(linear: [Double]) {
        let channels = linear.map { light in
            let light = min(max(light, 0), 1)
            let value = light <= 0.0031308 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055
            return UInt8((value * 255).rounded())
        }
        self.init(channels: (channels[0], channels[1], channels[2]))
    }
}
