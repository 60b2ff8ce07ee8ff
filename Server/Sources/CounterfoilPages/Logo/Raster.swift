/// The pixels of an image: red, green, blue and alpha, one byte each, row by row from the top left.
struct Raster: Sendable {
    let width: Int
    let height: Int
    private(set) var pixels: [UInt8]

    /// Creates a raster from `width * height * 4` bytes.
    init(width: Int, height: Int, pixels: [UInt8]) {
        precondition(pixels.count == width * height * 4)
        self.width = width
        self.height = height
        self.pixels = pixels
    }

    var isOpaque: Bool { stride(from: 3, to: pixels.count, by: 4).allSatisfy { pixels[$0] == 0xFF } }

    /// Returns the image scaled to a square without cropping; transparent margins fill the rest of the square.
    func fitted(intoSquareOf side: Int) -> Raster {
        let longer = max(width, height)
        let image = scaled(
            width: max(1, (width * side + longer / 2) / longer), height: max(1, (height * side + longer / 2) / longer))
        var square = [UInt8](repeating: 0, count: side * side * 4)
        let left = (side - image.width) / 2
        let top = (side - image.height) / 2
        for y in 0..<image.height {
            let row = image.pixels[y * image.width * 4..<(y + 1) * image.width * 4]
            let start = ((top + y) * side + left) * 4
            square.replaceSubrange(start..<start + row.count, with: row)
        }
        return Raster(width: side, height: side, pixels: square)
    }

    /// Returns the image on a white background, for formats without transparency.
    func onWhite() -> Raster {
        var opaque = self
        for start in stride(from: 0, to: pixels.count, by: 4) {
            let alpha = Int(pixels[start + 3])
            for channel in start..<start + 3 {
                opaque.pixels[channel] = UInt8((Int(pixels[channel]) * alpha + 255 * (255 - alpha) + 127) / 255)
            }
            opaque.pixels[start + 3] = 0xFF
        }
        return opaque
    }

    /// Returns the upright image of a photo that was taken in the given orientation.
    func turned(_ orientation: Orientation) -> Raster {
        guard orientation != .upright else { return self }
        let (width, height) = orientation.swapsSides ? (self.height, self.width) : (self.width, self.height)
        var turned = [UInt8](repeating: 0, count: pixels.count)
        for y in 0..<height {
            for x in 0..<width {
                let source = orientation.source(ofX: x, y: y, width: width, height: height)
                let from = (source.y * self.width + source.x) * 4
                let to = (y * width + x) * 4
                for channel in 0..<4 { turned[to + channel] = pixels[from + channel] }
            }
        }
        return Raster(width: width, height: height, pixels: turned)
    }

    /// Returns the image at another size.
    ///
    /// Each new pixel is the average of the old pixels in its area, weighted by their alpha.
    private func scaled(width newWidth: Int, height newHeight: Int) -> Raster {
        var sums = [SIMD4<Float>](repeating: .zero, count: newWidth * newHeight)
        var row = [SIMD4<Float>](repeating: .zero, count: newWidth)
        let columns = (0..<width).map { Shares(of: $0, among: width, in: newWidth) }
        for y in 0..<height {
            for x in 0..<newWidth { row[x] = .zero }
            for x in 0..<width {
                let pixel = premultiplied((y * width + x) * 4)
                for target in columns[x].targets { row[target] += pixel * columns[x].share(in: target) }
            }
            let shares = Shares(of: y, among: height, in: newHeight)
            for target in shares.targets {
                let share = shares.share(in: target)
                for x in 0..<newWidth { sums[target * newWidth + x] += row[x] * share }
            }
        }
        var scaled: [UInt8] = []
        scaled.reserveCapacity(sums.count * 4)
        for sum in sums {
            // The sums are premultiplied with alpha, so the colours are divided by alpha here. A fully transparent
            // pixel has no colour.
            let colour = sum.w > 0 ? sum * (255 / sum.w) : .zero
            for value in [colour.x, colour.y, colour.z, sum.w] {
                scaled.append(UInt8(min(255, max(0, value.rounded()))))
            }
        }
        return Raster(width: newWidth, height: newHeight, pixels: scaled)
    }

    private func premultiplied(_ start: Int) -> SIMD4<Float> {
        let alpha = Float(pixels[start + 3])
        let colour = SIMD4<Float>(Float(pixels[start]), Float(pixels[start + 1]), Float(pixels[start + 2]), 255)
        return colour * (alpha / 255)
    }
}

/// The distribution of one pixel of a row or column among the pixels of the scaled row or column.
private struct Shares {
    /// The indices of the scaled pixels that the pixel overlaps.
    let targets: ClosedRange<Int>
    private let covered: Range<Int>
    private let length: Int

    /// Distributes the pixel `index` of a line of `length` pixels among a scaled line of `newLength` pixels.
    init(of index: Int, among length: Int, in newLength: Int) {
        // Positions are in units of 1 / `length` of a scaled pixel. In this unit, an original pixel has the width
        // `newLength` and a scaled pixel has the width `length`, so all borders are integers.
        covered = index * newLength..<(index + 1) * newLength
        targets = covered.lowerBound / length...(covered.upperBound - 1) / length
        self.length = length
    }

    /// Computes the share of this pixel in a scaled pixel; the shares of all pixels in one scaled pixel add up to 1.
    func share(in target: Int) -> Float {
        let overlap =
            min(covered.upperBound, (target + 1) * length) - max(covered.lowerBound, target * length)
        return Float(overlap) / Float(length)
    }
}
