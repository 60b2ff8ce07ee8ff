extension String {
    /// The text without control characters and without characters that change the writing direction.
    ///
    /// Text from a server could otherwise move the cursor of a terminal or hide the text before it.
    package var strippingControlCharacters: String {
        String(
            String.UnicodeScalarView(
                unicodeScalars.filter { scalar in
                    switch scalar.properties.generalCategory {
                    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse: false
                    default: true
                    }
                }
            )
        )
    }
}
