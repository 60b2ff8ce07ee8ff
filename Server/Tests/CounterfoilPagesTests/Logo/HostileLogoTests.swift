import CounterfoilServer
import CounterfoilStore
import TestSupport
import Testing

@testable import CounterfoilPages

/// Malformed and malicious logo uploads.
struct HostileLogoTests {
    /// Decodes an upload: the outcome must be a valid logo or a refusal, never a crash or a fault.
    private static func survives(_ upload: [UInt8]) throws {
        let logo: Logo
        do { logo = try LogoCodec.logo(from: upload) } catch { return }
        _ = try LogoEncoderTests.checked(logo)
    }

    // Metadata can contain the place where a photograph was taken and the name of its author.
    @Test func `all metadata of an image is removed`() throws {
        let marker = Array("48.2082N 16.3738E geheim".utf8)
        let bomb = try #require(
            SampleImageFiles.content(of: "IDAT", in: try SampleImages.greyPNG(width: 2000, height: 2000)))
        let png = SampleImageFiles.png(
            try SampleImages.png(.gradient, width: 200, height: 200),
            adding: [
                SampleImageFiles.chunk("tEXt", Array("Comment\0".utf8) + marker),
                SampleImageFiles.chunk("eXIf", marker),
                SampleImageFiles.chunk("iCCP", Array("profile\0\0".utf8) + marker),
                SampleImageFiles.chunk("prVt", marker),
            ] + Array(repeating: SampleImageFiles.chunk("zTXt", Array("Bomb\0\0".utf8) + bomb), count: 40))
        let jpeg = SampleImageFiles.jpeg(
            try SampleImages.jpeg(.gradient, width: 200, height: 200),
            adding: [
                SampleImageFiles.exif(orientation: 1, place: String(decoding: marker, as: UTF8.self)),
                SampleImageFiles.segment(0xFE, marker),
                SampleImageFiles.segment(0xED, Array("Photoshop 3.0\0".utf8) + marker),
                SampleImageFiles.segment(0xE2, Array("ICC_PROFILE\0".utf8) + marker),
            ])
        for file in [png, jpeg] {
            #expect(!file.ranges(of: marker).isEmpty)
            let logo = try LogoCodec.logo(from: file)
            _ = try LogoEncoderTests.checked(logo)
            for part in [marker, Array("geheim".utf8), Array("Exif".utf8), Array("Bomb".utf8)] {
                #expect(logo.bytes.ranges(of: part).isEmpty)
            }
        }
    }

    // A browser could execute appended content if the file were served unchanged.
    @Test func `content appended to or hidden in an image is removed`() throws {
        let script = Array("<html><script>alert(document.domain)</script>".utf8)
        for file in [
            try SampleImages.png(width: 64, height: 64) + script,
            SampleImageFiles.png(
                try SampleImages.png(width: 64, height: 64), adding: [SampleImageFiles.chunk("tEXt", script)]),
            try SampleImages.jpeg(width: 64, height: 64) + script,
            SampleImageFiles.jpeg(
                try SampleImages.jpeg(width: 64, height: 64), adding: [SampleImageFiles.segment(0xFE, script)]),
        ] {
            let logo = try LogoCodec.logo(from: file)
            _ = try LogoEncoderTests.checked(logo)
            #expect(logo.bytes.ranges(of: Array("script".utf8)).isEmpty)
        }
    }

    // The bytes decide the file type; an SVG can contain scripts.
    @Test(arguments: [
        "", "\u{89}PNG", "<svg xmlns=\"http://www.w3.org/2000/svg\" onload=\"alert(1)\"/>", "GIF89a\u{1}\u{0}\u{1}",
        "RIFF\u{24}\u{0}\u{0}\u{0}WEBPVP8 ", "BM\u{36}", "%PDF-1.7", "<html><script>", "\u{0}\u{0}\u{1}\u{0}",
    ])
    func `other kinds of files are refused`(content: String) throws {
        let bytes = content.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
        #expect(throws: LogoRefusal.notAnImage) { try LogoCodec.logo(from: bytes) }
    }

    @Test(arguments: [
        (100_000, 100_000), (4097, 1), (1, 4097), (4096, 4096), (2_147_483_647, 2_147_483_647), (4_294_967_295, 1),
    ])
    func `a small file that declares a huge image is refused by its header`(width: Int, height: Int) throws {
        let png =
            Array(try SampleImages.png(width: 8, height: 8).prefix(8))
            + SampleImageFiles.header(width: width, height: height)
            + SampleImageFiles.chunk("IDAT", []) + SampleImageFiles.chunk("IEND", [])
        #expect(png.count < 100)
        #expect(throws: LogoRefusal.tooManyPixels) { try LogoCodec.logo(from: png) }
        guard width <= 65_500, height <= 65_500 else { return }
        var jpeg = try SampleImages.jpeg(width: 8, height: 8)
        let frame = try #require(jpeg.firstRange(of: [0xFF, 0xC0])).lowerBound
        jpeg.replaceSubrange(
            frame + 5..<frame + 9,
            with: SampleImageFiles.number(height).suffix(2) + SampleImageFiles.number(width).suffix(2))
        #expect(throws: LogoRefusal.tooManyPixels) { try LogoCodec.logo(from: jpeg) }
    }

    @Test func `an image without pixels is refused`() throws {
        for (width, height) in [(0, 0), (0, 8), (8, 0)] {
            let png =
                Array(try SampleImages.png(width: 8, height: 8).prefix(8))
                + SampleImageFiles.header(width: width, height: height) + SampleImageFiles.chunk("IEND", [])
            #expect(throws: LogoRefusal.damaged) { try LogoCodec.logo(from: png) }
        }
    }

    @Test func `a file over the size limit is refused whatever it contains`() async throws {
        let file = try SampleImages.png(width: 8, height: 8) + [UInt8](repeating: 0, count: LogoEncoder.uploadLimit)
        #expect(throws: LogoRefusal.tooLarge) { try LogoCodec.logo(from: file) }
        await #expect(throws: LogoRefusal.tooLarge) { try await LogoEncoder(.standard).logo(from: file) }
    }

    @Test func `a CMYK image is refused with advice how to convert it`() throws {
        let file = try SampleImages.printJPEG(width: 64, height: 64)
        #expect(throws: LogoRefusal.printColours) { try LogoCodec.logo(from: file) }
        #expect(Localizer.english(LogoRefusal.printColours.text).contains("RGB"))
    }

    @Test func `a truncated file is refused`() throws {
        let png = try SampleImages.png(.gradient, width: 120, height: 90)
        let jpeg = try SampleImages.jpeg(.gradient, width: 120, height: 90)
        for length in stride(from: 12, to: png.count, by: 64) {
            #expect(throws: LogoRefusal.damaged) { try LogoCodec.logo(from: Array(png.prefix(length))) }
        }
        for length in stride(from: 4, to: jpeg.count - 2, by: 64) {
            #expect(throws: LogoRefusal.damaged) { try LogoCodec.logo(from: Array(jpeg.prefix(length))) }
        }
    }

    @Test(arguments: 1...3) func `flipped bits give a valid logo or a refusal`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let exif = SampleImageFiles.exif(orientation: 6, place: "somewhere")
        let originals = [
            try SampleImages.png(.gradient, width: 60, height: 40), try SampleImages.palettePNG(width: 40, height: 40),
            SampleImageFiles.jpeg(try SampleImages.jpeg(.gradient, width: 60, height: 40), adding: [exif]),
            try SampleImages.jpeg(.noise, width: 40, height: 40, progressive: true),
        ]
        for original in originals {
            for _ in 0..<12 {
                var file = original
                for _ in 0..<Int.random(in: 1...4, using: &random) {
                    let index = Int.random(in: 8..<file.count, using: &random)
                    file[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                }
                try Self.survives(file)
            }
        }
    }

    // Wrong checksums would stop such bytes before the decoder, so they are corrected.
    @Test(arguments: 1...3) func `chunks with arbitrary content give a valid logo or a refusal`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let signature = Array(try SampleImages.png(width: 8, height: 8).prefix(8))
        let pixels = try #require(SampleImageFiles.content(of: "IDAT", in: try SampleImages.png(width: 30, height: 30)))
        for _ in 0..<60 {
            var header = SampleImageFiles.number(.random(in: 1...40, using: &random))
            header += SampleImageFiles.number(.random(in: 1...40, using: &random))
            header += [[1, 2, 4, 8, 16].randomElement(using: &random) ?? 8, .random(in: 0...6, using: &random), 0, 0]
            header += [.random(in: 0...1, using: &random)]
            var data = pixels
            data[.random(in: 0..<data.count, using: &random)] ^= .random(in: 0...255, using: &random)
            var file = signature + SampleImageFiles.chunk("IHDR", header)
            for type in ["PLTE", "tRNS", "gAMA", "sRGB"] where Bool.random(using: &random) {
                let length = Int.random(in: 0...12, using: &random)
                file += SampleImageFiles.chunk(type, (0..<length).map { _ in .random(in: 0...255, using: &random) })
            }
            try Self.survives(file + SampleImageFiles.chunk("IDAT", data) + SampleImageFiles.chunk("IEND", []))
        }
    }

    @Test func `every refusal says what to do`() {
        for refusal in [
            .tooLarge, .notAnImage, .tooManyPixels, .damaged, .printColours, LogoRefusal.busy(retryAfter: 2),
        ] {
            let said = Localizer.english(refusal.text)
            #expect(said.hasSuffix("."))
            #expect(!said.hasPrefix("logo."))
            #expect(!said.contains("{"))
        }
        #expect(Localizer.english(LogoRefusal.tooLarge.text).contains("512 KiB"))
    }
}
