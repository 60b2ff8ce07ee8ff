extension String {
    /// Returns a typed username or email address without what keyboards and copying add.
    ///
    /// - Fullwidth characters become the usual ones, such as `＠` (RFC 8265 §3.3.1), and `。` becomes a period.
    /// - Invisible characters are removed, such as the direction marks around a copied address.
    /// - White space at the beginning and the end is removed: keyboards of phones add a space after a completed word.
    /// - Periods at the end are removed: keyboards of phones replace two spaces by a period and a space.
    package func asTypedName() -> String {
        var scalars = UnicodeScalarView()
        for scalar in unicodeScalars {
            switch scalar.value {
            case 0xFF01...0xFF5E: scalars.append(Unicode.Scalar(scalar.value - 0xFEE0) ?? scalar)
            case 0x3002, 0xFF61: scalars.append(".")
            default: if scalar.properties.generalCategory != .format { scalars.append(scalar) }
            }
        }
        let isPadding = { (scalar: Unicode.Scalar) in scalar.properties.isWhitespace }
        let name = scalars.drop(while: isPadding)
        let end = name.lastIndex { !isPadding($0) && $0 != "." }
        return end.map { String(name[...$0]) } ?? ""
    }
}
