package import Foundation

extension ContiguousBytes {
    /// The bytes as an array.
    ///
    /// The buffer is copied in one step. Iterating over a digest or an authentication code yields its bytes
    /// one at a time.
    package var copiedBytes: [UInt8] { withUnsafeBytes { Array($0) } }
}
