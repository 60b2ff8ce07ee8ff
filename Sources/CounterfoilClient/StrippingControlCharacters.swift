extension String {
    /// The text without control characters, line breaks, invisible format characters and private-use characters.
    ///
    /// With such characters, text from a server could move the cursor of a terminal, or hide or reorder other text.
    /// Format characters include those that change the writing direction.
    package var strippingControlCharacters: String {
        String(String.UnicodeScalarView(unicodeScalars.filter { !$0.controlsText }))
    }
}

extension Unicode.Scalar {
    /// Whether the character is one that `strippingControlCharacters` removes.
    package var controlsText: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse: true
        default: false
        }
    }
}
