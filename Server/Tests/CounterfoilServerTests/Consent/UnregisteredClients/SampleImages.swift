import CounterfoilServer
import Testing

@testable import CounterfoilPages

/// Images in the formats of logos.
enum SampleImages {
    static func png(width: Int, height: Int) throws -> [UInt8] {
        try #require(PNGImage.encode(raster(width: width, height: height)))
    }

    static func jpeg(width: Int, height: Int) throws -> [UInt8] {
        try #require(JPEGImage.encode(raster(width: width, height: height), quality: 90))
    }

    /// Pixels that differ with the size, so that the logos do, too.
    private static func raster(width: Int, height: Int) -> Raster {
        var pixels: [UInt8] = []
        for y in 0..<height {
            for x in 0..<width { pixels += [UInt8(width % 256), UInt8(x % 256), UInt8(y % 256), 0xFF] }
        }
        return Raster(width: width, height: height, pixels: pixels)
    }
}
