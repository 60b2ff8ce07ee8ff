import CEmbeddedFiles

/// The most common passwords, which attackers try first.
///
/// They are ``words`` and their usual variations: a word with an ending, a doubled word, a word cut off after eight
/// characters, or two short words combined. Keyboard runs, dates and repeated characters count too. Uppercase
/// letters are treated as lowercase, and digits or signs that replace letters are treated as these letters.
enum CommonPasswords {
    /// The 10,000 most frequent passwords of published leaks, in lowercase.
    ///
    /// They are the first 10,000 entries of the list `passwords` of zxcvbn 4.5.0. The server must reject the 3,000
    /// most frequent passwords that have at least eight characters (OWASP ASVS 6.2), and these entries contain them.
    private static let words = Set(
        String(decoding: [UInt8](embedded_common_passwords()), as: UTF8.self).split(separator: "\n").map(String.init))

    static func contain(_ password: String) -> Bool {
        let lowered = password.lowercased()
        if isRepetition(Array(lowered.utf8)) || isFigures(lowered) { return true }
        // The words with their usual variations and the keyboard rows are shorter.
        guard lowered.utf8.count <= 40 else { return false }
        if isRun(lowered) || isTwoWords(lowered) { return true }
        return stems(of: lowered).contains(where: isWord)
    }

    /// Returns the text and the words that could be in it: without leading digits, without an ending, or without both.
    private static func stems(of text: String) -> [String] {
        let front = text.drop { $0.isASCII && $0.isNumber }
        let wholes = front.startIndex == text.startIndex ? [text] : [text, String(front)]
        return wholes
            + wholes.flatMap { whole in
                endings.filter { whole.hasSuffix($0) }.map { String(whole.dropLast($0.count)) }
            }
    }

    private static func isWord(_ text: String) -> Bool {
        [text, plain(text)].contains { text in
            let half = text.prefix(text.count / 2)
            return words.contains(text) || beginnings.contains(text)
                || words.contains(String(half)) && half + half == text
        }
    }

    /// Returns true if the text consists of two words without a separator and has at most nine characters.
    private static func isTwoWords(_ text: String) -> Bool {
        guard text.utf8.count <= 9, text.utf8.allSatisfy({ $0 < 0x80 }) else { return false }
        return (3...max(3, text.count - 3)).contains { length in
            words.contains(String(text.prefix(length))) && words.contains(String(text.dropFirst(length)))
        }
    }

    /// Returns true if the text consists of digits that are easy to guess.
    ///
    /// These are a date of eight digits, a palindrome, and a number with at most three different digits.
    private static func isFigures(_ text: String) -> Bool {
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return false }
        if Set(text).count <= 3 || text == String(text.reversed()) { return true }
        guard text.utf8.count == 8 else { return false }
        let pairs = stride(from: 0, to: 8, by: 2).compactMap { Int(text.dropFirst($0).prefix(2)) }
        func isDay(_ first: Int, _ second: Int) -> Bool {
            (1...31).contains(first) && (1...12).contains(second)
                || (1...12).contains(first) && (1...31).contains(second)
        }
        return (19...20).contains(pairs[2]) && isDay(pairs[0], pairs[1])
            || (19...20).contains(pairs[0]) && isDay(pairs[2], pairs[3])
    }

    /// Returns true if the text is a repetition of a part of one to four bytes, such as `abcabcab`.
    private static func isRepetition(_ bytes: [UInt8]) -> Bool {
        (1...4).contains { length in
            bytes.count >= length * 2 && bytes.indices.dropFirst(length).allSatisfy { bytes[$0] == bytes[$0 - length] }
        }
    }

    /// Returns true if the text is part of a keyboard row, in either direction.
    private static func isRun(_ text: String) -> Bool {
        let reversed = String(text.reversed())
        return rows.contains { $0.contains(text) || $0.contains(reversed) }
    }

    /// Returns the text with digits and signs replaced by the letters that they stand for, such as `a` for `@`.
    private static func plain(_ text: String) -> String { String(text.map { substitutes[$0] ?? $0 }) }

    private static let substitutes: [Character: Character] = [
        "0": "o", "1": "i", "!": "i", "3": "e", "4": "a", "@": "a", "5": "s", "$": "s", "7": "t",
    ]

    /// The first eight characters of each longer word, because some systems limit passwords to eight characters.
    private static let beginnings = Set(words.filter { $0.count > 8 }.map { String($0.prefix(8)) })

    /// Keyboard rows and other well-known sequences.
    private static let rows = [
        "01234567890123456789", "0987654321qwertyuiop", "1234567890-=", "123456789qwertyuiop", "1234567890qwertyuiop",
        "abcdefghijklmnopqrstuvwxyz0123456789", "qwertyuiop[]asdfghjkl;'zxcvbnm,./", "qwertyuiopasdfghjklzxcvbnm",
        "qwertzuiopasdfghjklyxcvbnm", "azertyuiopqsdfghjklmwxcvbn", "1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik,9ol.0p;/",
        "!qaz@wsx#edc$rfv%tgb^yhn&ujm", "qazwsxedcrfvtgbyhnujmikolp", "1q2w3e4r5t6y7u8i9o0p", "q1w2e3r4t5y6u7i8o9p0",
        "zaq1xsw2cde3vfr4bgt5nhy6mju7", "zaq12wsxcde34rfv", "1qazxsw23edcvfr4", "qweasdzxcrtyfghvbn", "qweasdzxc123",
        "123qweasdzxc", "qwe123asd456zxc789", "147258369147258369", "159753159753", "789456123", "741852963",
        "963852741",
        "11223344556677889900", "112233445566", "aabbccddeeff", "a1b2c3d4e5f6g7h8", "1a2b3c4d5e6f7g8h", "a1s2d3f4g5h6",
        "123abc456def", "1029384756", "102030405060708090", "010203040506070809", "13579246810", "2468101214",
        "!@#$%^&*()_+", "asdf1234567890", "abcd1234567890", "qwer1234567890", "asd123456789", "qwe123456789",
        "abc1234567890", "1111222233334444", "1234qwerasdfzxcv", "12qwaszx34erdfcv", "147896325", "31415926535",
        "0123698745",
        "123456789abcdefghi", "123456abcdef", "a123456789", "a1234567890", "z1x2c3v4b5n6m7", "1z2x3c4v5b6n7m",
    ]

    /// The endings that users commonly add to a word, such as digits, years and exclamation marks.
    private static let endings: [String] = {
        let signs = [
            "!", "!!", "?", ".", "*", "@", "#", "$", "1!", "12!", "123!", "1234!", "01!", "!1", "@1", "@123", "#1",
        ]
        let others = [
            "_1", "-1", "_123", "a", "q", "s", "x", "z", "abc", "xyz", "qwe", "asd", "xxx", "4ever", "4me", "4life",
            "4u",
            "man", "boy", "girl",
        ]
        let rising = (1...10).map { String("1234567890".prefix($0)) }
        let repeated = (0...9).flatMap { [String(repeating: "\($0)", count: 3), String(repeating: "\($0)", count: 4)] }
        let figures = ["007", "321", "4321", "54321", "1212", "1313", "2580", "420", "123123", "111111", "666666"]
        let short = (0...9).map(String.init) + (0...9).map { "0\($0)" } + (10...99).map(String.init)
        let years = (1940...2039).map(String.init)
        return signs + others + rising + repeated + figures + short + years + years.map { $0 + "!" }
    }()
}
