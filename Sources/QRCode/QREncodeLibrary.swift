import CounterfoilPlatform

/// The functions of libqrencode 4, which the system loads at run time (`qrencode.h`).
///
/// The library stays loaded. Its functions can be called by several threads at once.
struct QREncodeLibrary {
    /// The names under which systems install version 4 of the library, which has kept its binary interface.
    ///
    /// On Linux, the dynamic linker looks for a name without a slash in the folders of the system and of
    /// `LD_LIBRARY_PATH`, and never in the current folder. On macOS, the folders are those of Homebrew and MacPorts.
    static let names: [String] = {
        #if canImport(Darwin)
            ["/opt/homebrew/lib", "/usr/local/lib", "/opt/local/lib"].map { "\($0)/libqrencode.4.dylib" }
        #else
            ["libqrencode.so.4"]
        #endif
    }()

    // QRcode *QRcode_encodeData(int size, const unsigned char *data, int version, QRecLevel level)
    private typealias Encode = @convention(c) (CInt, UnsafePointer<UInt8>, CInt, CInt) -> UnsafeMutableRawPointer?
    // void QRcode_free(QRcode *qrcode)
    private typealias Free = @convention(c) (UnsafeMutableRawPointer) -> Void

    private let encode: Encode
    private let free: Free

    /// Loads the first library that the system has; nil if it has none.
    init?(anyOf names: [String]) {
        for name in names {
            guard let library = dlopen(name, RTLD_NOW | RTLD_LOCAL) else { continue }
            guard let encode = dlsym(library, "QRcode_encodeData"), let free = dlsym(library, "QRcode_free") else {
                dlclose(library)
                continue
            }
            self.encode = unsafeBitCast(encode, to: Encode.self)
            self.free = unsafeBitCast(free, to: Free.self)
            return
        }
        return nil
    }

    /// Returns the modules of the smallest code for some bytes; nil if the library fails.
    func encode(_ bytes: [UInt8], _ correction: QRCode.ErrorCorrection) -> (width: Int, modules: [Bool])? {
        // Version 0 means the smallest that is large enough.
        guard let code = encode(CInt(bytes.count), bytes, 0, correction.rawValue) else { return nil }
        defer { free(code) }
        // typedef struct { int version; int width; unsigned char *data; } QRcode;
        let width = Int(code.load(fromByteOffset: MemoryLayout<CInt>.size, as: CInt.self))
        let data = code.load(fromByteOffset: 2 * MemoryLayout<CInt>.size, as: UnsafePointer<UInt8>?.self)
        // The versions 1 to 40 have 21, 25, … 177 modules in a row (ISO/IEC 18004 §6.1).
        guard let data, (21...177).contains(width), (width - 17).isMultiple(of: 4) else { return nil }
        // The lowest bit of each byte is the module, and the others describe its part of the code.
        return (width, UnsafeBufferPointer(start: data, count: width * width).map { $0 & 1 == 1 })
    }
}
