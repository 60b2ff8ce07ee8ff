#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

extension ContiguousBytes {
    /// The bytes as an array.
    ///
    /// The buffer is copied in one step. This is faster than iterating over a digest or a message
    /// authentication code, which yields one byte at a time.
    package var copiedBytes: [UInt8] { withUnsafeBytes { Array($0) } }
}
