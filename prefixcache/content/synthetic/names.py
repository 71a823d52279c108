"""Proper names: given names by pronoun, places, days and months. Every one is a single ASCII word."""

from __future__ import annotations

from prefixcache.content.synthetic.wordlist import words

FEMININE = words(
    """
    Abigail Ada Adele Adriana Agatha Agnes Alba Alexandra Alice Alicia Alina Alma Amanda Amara Amber Amelia Amina Amy
    Anastasia Andrea Angela Angelina Anita Anna Annabel Antonia April Ariana Astrid Audrey Aurora Ava Barbara Beatrice
    Bella Bernice Bertha Bianca Bonnie Brenda Brianna Bridget Camila Carla Carmen Carol Caroline Catalina Catherine
    Cecilia Celeste Celia Charlotte Chloe Christina Clara Claudia Clementine Colette Constance Cora Cynthia Daisy
    Daniela Daphne Deborah Delia Denise Diana Dolores Donna Dora Doris Dorothy Edith Eileen Elaine Eleanor Elena Elise
    Eliza Elizabeth Ella Ellen Eloise Elsa Elvira Emily Emma Erica Esther Ethel Eugenia Eva Evelyn Faith Fatima Faye
    Felicia Fiona Flora Florence Frances Francesca Frida Gabriela Gemma Georgia Gertrude Gina Giulia Gloria Grace Greta
    Gwen Hannah Harriet Hazel Heather Heidi Helen Helena Henrietta Hilda Holly Ida Ilona Imogen Ines Ingrid Irene Irina
    Iris Isabel Isabella Ivy Jacqueline Jane Janet Jasmine Jean Jennifer Jessica Joan Joanna Jocelyn Josephine Joyce
    Judith Julia Juliana Juliet June Justine Karen Karina Katarina Kate Katherine Kathleen Keiko Kimberly Kirsten
    Lakshmi Lara Larissa Laura Lauren Lavinia Layla Leah Leila Lena Leona Leticia Lila Lillian Lily Linda Lisa Livia
    Lois Lola Lorena Lorraine Louisa Louise Lucia Lucille Lucinda Lucy Luisa Lydia Mabel Madeleine Maeve Magdalena Maja
    Margaret Margot Maria Mariana Marie Marina Marion Marjorie Marlene Martha Martina Mary Matilda Maureen Mavis May
    Megan Melanie Melinda Melissa Mercedes Meredith Michelle Mildred Millie Mina Minerva Miranda Miriam Molly Monica
    Muriel Myra Nadia Nancy Naomi Natalia Natalie Nell Nellie Nicole Nina Noelle Nora Norma Octavia Odette Olga Olive
    Olivia Ophelia Paloma Pamela Patricia Paula Pauline Pearl Penelope Petra Philippa Phoebe Phyllis Pilar Polly
    Priscilla Priya Rachel Ramona Rebecca Regina Renata Rhoda Rita Roberta Rosa Rosalind Rosalie Rosemary Rowena Roxanne
    Ruby Ruth Sabina Sabrina Sadie Sakura Samantha Sandra Sarah Saskia Selena Selma Serena Sharon Sheila Shirley
    Sigrid Silvia Simone Sofia Sonia Sophia Sophie Stella Stephanie Susan Susanna Suzanne Sybil Tabitha Tamara Tatiana
    Teresa Tessa Thea Theodora Tina Tracy Trudy Una Ursula Valentina Valerie Vanessa Vera Verena Veronica Victoria
    Viola Violet Virginia Vivian Wanda Wendy Wilhelmina Willa Wilma Winifred Yasmin Yolanda Yuki Yvette Yvonne Zara
    Zelda Zoe
    """
)

MASCULINE = words(
    """
    Aaron Abel Abraham Adam Adrian Ahmed Aidan Alan Alastair Albert Alberto Alejandro Alexander Alexis Alfonso Alfred
    Allen Alvin Amir Anders Andrew Andy Angus Anselm Anthony Antonio Archie Ariel Arjun Arnold Arthur Arturo Austin
    Barnaby Barry Bartholomew Basil Benedict Benjamin Bernard Bjorn Boris Brandon Brian Bruce Bruno Byron Caleb Calvin
    Cameron Carlos Casper Cedric Cesar Charles Chester Christian Christopher Clarence Claude Clement Clifford Clive
    Colin Connor Conrad Cornelius Craig Cyril Cyrus Damian Daniel Dario David Dean Dennis Derek Desmond Diego Dimitri
    Dominic Donald Douglas Duncan Dustin Dwight Dylan Edgar Edmund Eduardo Edward Edwin Elias Elijah Elliot Emanuel
    Emil Emmanuel Enrique Eric Ernest Ethan Eugene Evan Ezra Fabian Felipe Felix Ferdinand Fergus Fernando Finn
    Floyd Francis Francisco Franklin Fred Frederick Gabriel Garrett Gavin Geoffrey George Gerald Gerard Gideon Gilbert
    Giovanni Glenn Gordon Graham Grant Gregory Guillermo Gustav Hamish Hannes Harold Harrison Harry Harvey Hector
    Henrik Henry Herbert Herman Hiroshi Horace Howard Hubert Hugh Hugo Humphrey Ian Ibrahim Ignacio Igor Isaac
    Isaiah Ivan Jack Jacob Jaime Jakob James Jamal Jared Jarvis Jason Jasper Javier Jeffrey Jeremiah Jeremy Jerome Jesse
    Joachim Joel Johan John Jonas Jonathan Jordan Jorge Joseph Joshua Josiah Juan Julian Julio Julius Justin Karl
    Keith Kenji Kenneth Kevin Kieran Klaus Konrad Kurt Lambert Lance Laurence Lawrence Leander Leo Leon Leonard
    Leopold Leroy Leslie Lewis Liam Lincoln Lionel Lloyd Logan Lorenzo Louis Lucas Lucian Ludwig Luigi Luis Luke Luther
    Magnus Malcolm Manuel Marcel Marco Marcus Mario Mark Marshall Martin Marvin Mason Mateo Matthew Maurice Max Maxwell
    Melvin Michael Miguel Milan Miles Milo Mohammed Morris Moses Nathan Nathaniel Neil Nelson Neville Nicholas Nigel
    Nikolai Noah Noel Norman Oliver Omar Orlando Oscar Oswald Otto Owen Pablo Patrick Paul Pedro Percy Perry Peter
    Philip Pierre Quentin Quincy Rafael Ralph Ramon Randall Raphael Rashid Raul Raymond Reginald Remy Reuben Ricardo
    Richard Robert Roberto Robin Roderick Rodney Rodrigo Roger Roland Roman Ronald Rory Ross Rowan Roy Rudolf Rufus
    Rupert Russell Ryan Salvador Samir Sammy Samson Samuel Santiago Scott Sean Sebastian Sergio Seth Seymour Shane
    Sidney Siegfried Simon Solomon Spencer Stanley Stefan Stephen Steven Stuart Sven Sylvester Takeshi Tariq
    Terence Theodore Thomas Thor Tim Timothy Tobias Toby Todd Tomas Travis Trevor Tristan Ulrich Valentin Vernon Victor
    Vikram Vincent Virgil Wallace Walter Warren Wayne Wendell Wesley Wilbur Wilfred William Winston Xavier Yusuf
    Zachary
    """
)

PLACES = words(
    """
    Aberdeen Accra Adelaide Albany Algiers Almaty Amsterdam Anchorage Ankara Antwerp Arles Asheville Aspen
    Asuncion Athens Atlanta Auckland Avignon Baku Baltimore Bangalore Bangkok Barcelona Bari Basel Bath Beijing Belfast
    Belgrade Bergen Berkeley Berlin Bern Bilbao Birmingham Bogota Boise Bologna Bonn Bordeaux Boston Boulder
    Brasilia Bratislava Bremen Brighton Brisbane Bristol Bruges Brussels Bucharest Budapest Buffalo Burgos Burlington
    Cadiz Cairo Calgary Cambridge Canberra Canterbury Caracas Cardiff Carlisle Cartagena Casablanca Chamonix
    Charleston Chennai Chester Chicago Cleveland Cologne Colombo Columbus Copenhagen Cordoba Cork Corsica Coventry
    Cracow Dakar Dallas Dayton Delft Delhi Denver Derby Detroit Dortmund Dover Dresden Dubai Dublin Dubrovnik
    Duluth Dundee Durban Durham Edinburgh Edmonton Eindhoven Essex Eugene Exeter Fairbanks Faro Fargo Ferrara
    Florence Frankfurt Freiburg Fresno Galway Gdansk Geneva Genoa Ghent Gibraltar Girona Glasgow Gothenburg Granada Graz
    Grenoble Groningen Guadalajara Haarlem Halifax Hamburg Hamilton Hanoi Hanover Harare Hartford Hastings Havana
    Heidelberg Helsinki Hobart Honolulu Houston Hull Hyderabad Innsbruck Inverness Istanbul Izmir Jackson Jaipur Jakarta
    Jena Johannesburg Juneau Kampala Kansas Karachi Kassel Kathmandu Kent Kiel Kigali Kilkenny Kingston Kobe Krakow
    Kyoto Lagos Lahore Lancaster Lausanne Leeds Leiden Leicester Leipzig Lexington Lima Limerick Lincoln Linz Lisbon
    Liverpool Ljubljana London Louisville Lucerne Lugano Lund Lusaka Luxembourg Lyon Madison Madrid Malaga
    Malmo Manchester Manila Maputo Marseille Melbourne Memphis Miami Milan Milwaukee Minneapolis Minsk Mobile
    Modena Monaco Montevideo Montreal Mumbai Munich Nagoya Nairobi Nantes Naples Narvik Nashville Nassau Newcastle
    Newport Nice Nicosia Norfolk Norwich Nottingham Nuremberg Oakland Odense Omaha Oporto Orlando Osaka Oslo Ottawa
    Oulu Oxford Padua Palermo Palma Panama Paris Parma Perth Perugia Phoenix Pisa Pittsburgh Plymouth Portland
    Porto Portsmouth Potsdam Prague Pretoria Princeton Providence Quebec Quito Rabat Raleigh Ravenna Reading Regina
    Rennes Reno Reykjavik Richmond Riga Rimini Rochester Rome Rotterdam Rouen Sacramento Salamanca Salem Salisbury
    Salzburg Santiago Sapporo Sarajevo Savannah Seattle Segovia Seoul Seville Shanghai Sheffield Siena Singapore Sofia
    Southampton Spokane Springfield Stirling Stockholm Strasbourg Stuttgart Sussex Swansea Sydney Syracuse Tacoma
    Taipei Tallinn Tampa Tampere Tangier Tashkent Tbilisi Thessaloniki Tirana Tokyo Toledo Toronto Toulouse Trento
    Trieste Trondheim Tucson Tulsa Tunis Turin Turku Uppsala Utica Utrecht Valencia Valletta Vancouver Venice
    Verona Vienna Vilnius Vicenza Warsaw Warwick Wellington Wichita Winchester Windsor Winnipeg Worcester Yokohama York
    Ypres Zagreb Zaragoza Zurich
    """
)

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

MONTHS = words("January February March April June July August September October November December")

NAMES = tuple(dict.fromkeys(FEMININE + MASCULINE))
