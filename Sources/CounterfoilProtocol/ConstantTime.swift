/// Comparisons whose duration does not reveal at which byte two values differ.
public enum ConstantTime {
    /// Returns true if two byte strings are equal.
    ///
    /// The duration depends only on their lengths.
    public static func equals(_ left: some Collection<UInt8>, _ right: some Collection<UInt8>) -> Bool {
        compare(left, right)
    }

    /// Returns true if two byte arrays are equal.
    ///
    /// The duration depends only on their lengths.
    public static func equals(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        compare(left, right)
    }

    /// Returns true if two strings have the same UTF-8 bytes.
    ///
    /// The duration depends only on their lengths.
    public static func equals(_ left: String, _ right: String) -> Bool {
        equals(left.utf8, right.utf8)
    }

    private static func compare<Left: Collection<UInt8>, Right: Collection<UInt8>>(
        _ left: Left, _ right: Right
    ) -> Bool {
        guard left.count == right.count else { return false }
        var difference: UInt8 = 0
        for (left, right) in zip(left, right) { difference |= left ^ right }
        return difference == 0
    }
}
