package import Foundation

/// A small picture that is computed and encoded as a PNG file.
package struct Drawing: Sendable {
    package let side: Int
    /// The red, green and blue values at a point; both coordinates range from -1 to 1.
    package let colour: @Sendable (_ x: Double, _ y: Double) -> (UInt8, UInt8, UInt8)

    /// The logo of Lightbox: a lens.
    package static let lens = Drawing(side: 128) { x, y in
        let distance = (x * x + y * y).squareRoot()
        if distance < 0.22 { return (255, 214, 102) }
        if distance < 0.46 { return (58, 28, 92) }
        if distance < 0.56 { return (255, 255, 255) }
        return (206, 84, 110)
    }

    /// The logo of the site: the sun above a hill.
    package static let sunrise = Drawing(side: 128) { x, y in
        let sun = ((x - 0.2) * (x - 0.2) + (y + 0.1) * (y + 0.1)).squareRoot()
        if y > 0.35 + 0.35 * x * x - 0.2 * x { return (22, 92, 78) }
        return sun < 0.38 ? (255, 196, 84) : (214, 238, 230)
    }

    /// Returns the picture as an uncompressed PNG file.
    package func png() -> Data {
        var rows: [UInt8] = []
        for y in 0..<side {
            rows.append(0)
            for x in 0..<side {
                let at = { (place: Int) in 2 * (Double(place) + 0.5) / Double(side) - 1 }
                let (red, green, blue) = colour(at(x), at(y))
                rows += [red, green, blue]
            }
        }
        return PNGFile(width: side, height: side, rows: PNGFile.stored(rows)).data
    }
}
