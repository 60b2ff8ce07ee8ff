package import Foundation

extension ContiguousBytes {
    /// The bytes as an array, copied at once: a digest or a code is a sequence too, which gives them one by one.
    package var copiedBytes: [UInt8] { withUnsafeBytes { Array($0) } }
}
