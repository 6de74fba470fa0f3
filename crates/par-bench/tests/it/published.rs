//! What is published of other methods, from their answers and by our judge.
