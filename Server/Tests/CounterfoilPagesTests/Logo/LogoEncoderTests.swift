import CTurboJPEG
import CounterfoilServer
import CounterfoilStore
import Testing

@testable import CounterfoilPages

/// Conversion of uploaded images into logos.
struct LogoEncoderTests {
    /// A logo is a small square that can be decoded.
    static func checked(_ logo: Logo) throws -> SampleImages.Seen {
        #expect(logo.bytes.count <= Logo.byteLimit)
        let seen = try SampleImages.Seen(logo)
        #expect(seen.width == 96)
        #expect(seen.height == 96)
        return seen
    }

    @Test(arguments: SampleImages.Motif.allCases, [(96, 96), (300, 200), (33, 200), (1, 1), (4096, 1), (1, 4096)])
    func `an image of any shape becomes a small square`(motif: SampleImages.Motif, size: (Int, Int)) throws {
        let (width, height) = size
        _ = try Self.checked(LogoCodec.logo(from: SampleImages.png(motif, width: width, height: height)))
        _ = try Self.checked(LogoCodec.logo(from: SampleImages.jpeg(motif, width: width, height: height)))
    }

    @Test func `the whole image is fitted in, and the rest is transparent`() throws {
        let logo = try LogoCodec.logo(from: SampleImages.png(width: 400, height: 200))
        let seen = try Self.checked(logo)
        #expect(logo.format == .png)
        #expect(seen[48, 10][3] == 0)
        #expect(seen[48, 85][3] == 0)
        #expect(seen[2, 30] == [200, 30, 40, 255])
        #expect(seen[93, 60] == [20, 60, 220, 255])
    }

    @Test func `every kind of PNG is read`() throws {
        let half = try Self.checked(LogoCodec.logo(from: SampleImages.png(width: 96, height: 96, alpha: 128)))
        #expect(half[1, 1] == [200, 30, 40, 128])
        let grey = try Self.checked(LogoCodec.logo(from: SampleImages.greyPNG(width: 50, height: 50)))
        #expect(grey[48, 48] == [99, 99, 99, 255])
        // Linear 0x8000 is 188 in sRGB, as libpng writes it.
        let deep = try Self.checked(LogoCodec.logo(from: SampleImages.deepPNG(width: 50, height: 50)))
        #expect(isClose(deep[48, 48], [188, 188, 188, 255], within: 2))
        // A stripe of opaque red and half transparent blue from a palette: where colours mix, alpha weighs them.
        let palette = try Self.checked(LogoCodec.logo(from: SampleImages.palettePNG(width: 192, height: 192)))
        #expect(isClose(palette[48, 48], [133, 0, 67, 192], within: 3))
    }

    @Test(arguments: [TJSAMP_444, TJSAMP_422, TJSAMP_420, TJSAMP_GRAY], [false, true])
    func `every RGB or grey JPEG is read`(subsampling: TJSAMP, progressive: Bool) throws {
        let file = try SampleImages.jpeg(width: 200, height: 200, subsampling: subsampling, progressive: progressive)
        let seen = try Self.checked(LogoCodec.logo(from: file))
        let isGrey = subsampling == TJSAMP_GRAY
        #expect(isClose(seen[10, 48], isGrey ? [82, 82, 82, 255] : [200, 30, 40, 255]))
        #expect(isClose(seen[85, 48], isGrey ? [66, 66, 66, 255] : [20, 60, 220, 255]))
    }

    @Test func `an image that is too complex for a small PNG becomes a JPEG on white`() throws {
        let logo = try LogoCodec.logo(from: SampleImages.png(.noise, width: 96, height: 48))
        #expect(logo.format == .jpeg)
        #expect(isClose(try Self.checked(logo)[48, 4], [255, 255, 255, 255]))
    }

    // Each corner of the stored image, and its position after rotation.
    @Test(arguments: [(1, "LR"), (2, "RL"), (3, "RL"), (4, "LR"), (5, "TB"), (6, "TB"), (7, "BT"), (8, "BT")])
    func `the orientation of a photograph is applied`(orientation: Int, halves: String) throws {
        for littleEndian in [false, true] {
            let file = SampleImageFiles.jpeg(
                try SampleImages.jpeg(width: 120, height: 120),
                adding: [SampleImageFiles.exif(orientation: UInt8(orientation), littleEndian: littleEndian)])
            let seen = try Self.checked(LogoCodec.logo(from: file))
            let places: [Character: (Int, Int)] = ["L": (8, 48), "R": (88, 48), "T": (48, 8), "B": (48, 88)]
            let red = try #require(halves.first.flatMap { places[$0] })
            let blue = try #require(halves.last.flatMap { places[$0] })
            #expect(isClose(seen[red.0, red.1], [200, 30, 40, 255]))
            #expect(isClose(seen[blue.0, blue.1], [20, 60, 220, 255]))
        }
    }

    @Test(arguments: [0, 9, 255]) func `an orientation out of range changes nothing`(value: UInt8) throws {
        let plain = try SampleImages.jpeg(width: 120, height: 120)
        let strange = SampleImageFiles.jpeg(plain, adding: [SampleImageFiles.exif(orientation: value)])
        #expect(try LogoCodec.logo(from: strange) == LogoCodec.logo(from: plain))
    }

    @Test func `logos are converted one at a time, and a full queue refuses further uploads`() async throws {
        let encoder = LogoEncoder(.standard)
        let file = try SampleImages.png(.gradient, width: 250, height: 250)
        let refusals = await withTaskGroup(of: LogoRefusal?.self) { group in
            for _ in 0..<20 {
                group.addTask { () -> LogoRefusal? in
                    do throws(LogoRefusal) {
                        _ = try await encoder.logo(from: file)
                        return nil
                    } catch { return error }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        // One conversion at work and eight in the queue are always accepted.
        #expect(refusals.filter { $0 == nil }.count >= 9)
        #expect(refusals.allSatisfy { $0 == nil || $0 == .busy(retryAfter: 2) })
        #expect(try await encoder.logo(from: file) == LogoCodec.logo(from: file))
    }
}
