extension String {
    /// The text without control characters and without the marks that turn the direction of writing.
    ///
    /// A server's words could otherwise move the cursor of a terminal, or hide what stands before them.
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
